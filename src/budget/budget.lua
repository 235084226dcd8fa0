-- One step of a shared retry budget, for a server that runs scripts. What it does is what
-- `Ledger::answer` in budget.rs does; a test holds the two together.
--
-- KEYS[1]  the budget
-- ARGV     window (ms), minimum of attempts, ratio (retries per million attempts), question, length (ms), failed runs
--          before (-1 if they are not counted)
-- answer   whether a retry is allowed, attempts and retries counted before, cool-off left (ms), failed runs if any
--
-- The value is numbers in decimal: the longest window, end and length of the cool-off, the failed runs and two
-- zeros if there are any, then end, attempts and retries of each slot.
local SLOTS_PER_WINDOW, MOST_SLOTS, LONGEST_TTL = 60, 128, 1e13
-- How long it is remembered that runs failed.
local YEAR = 366 * 24 * 3600 * 1000

local window, least, ratio = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local question, length, earlier = ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local value = redis.call('GET', KEYS[1]) or ''
local numbers = {}
for number in value:gmatch('%d+') do
  numbers[#numbers + 1] = tonumber(number)
end
if value:find('[^%d ]') or #numbers % 3 ~= 0 or (#numbers == 0 and value ~= '') then
  return redis.error_reply('FOREIGN this key was not written by backoff')
end
local span, cool_until, cool_length = numbers[1] or 0, numbers[2] or 0, numbers[3] or 0
-- No slot is without an attempt.
local first, failed = 4, 0
if numbers[4] and numbers[5] == 0 and numbers[6] == 0 then
  first, failed = 7, numbers[4]
end

local function slot_end()
  local width = math.max(1, math.floor(span / SLOTS_PER_WINDOW))
  return (math.floor(now / width) + 1) * width
end

-- Forget what is past, and make good a clock that was set back.
local kept = {}
for i = first, #numbers, 3 do
  if numbers[i] > now - span then
    kept[#kept + 1] = { numbers[i], numbers[i + 1], numbers[i + 2] }
  end
end
if #kept == 0 then span = 0 end
span = math.max(span, window)
local slots, latest = {}, slot_end()
for _, slot in ipairs(kept) do
  slot[1] = math.min(slot[1], latest)
  local last = slots[#slots]
  if last and last[1] == slot[1] then
    last[2], last[3] = last[2] + slot[2], last[3] + slot[3]
  else
    slots[#slots + 1] = slot
  end
end

local attempts, retries = 0, 0
for _, slot in ipairs(slots) do
  if slot[1] > now - window then
    attempts, retries = attempts + slot[2], retries + slot[3]
  end
end
local left = math.max(0, math.min(cool_until - now, cool_length))
local allowed = attempts < least or retries * 1000000 < ratio * attempts

local function count(retry)
  local last = slots[#slots]
  if last and last[1] >= latest then
    last[2], last[3] = last[2] + 1, last[3] + retry
  else
    slots[#slots + 1] = { latest, 1, retry }
  end
  if #slots > MOST_SLOTS then
    slots[2][2], slots[2][3] = slots[2][2] + slots[1][2], slots[2][3] + slots[1][3]
    table.remove(slots, 1)
  end
end

if question == 'attempt' then
  count(0)
elseif question == 'retry' and allowed then
  count(1)
elseif question == 'gave-up' then
  cool_until, cool_length = now + length, length
  -- Fewer than then: one has succeeded meanwhile.
  if earlier >= 0 then
    failed = math.max(failed, (failed < earlier and 0 or earlier) + 1)
  end
elseif question == 'succeeded' then
  cool_until, cool_length, failed = 0, 0, 0
end

local text = string.format('%.0f %.0f %.0f', span, cool_until, cool_length)
local needed = cool_until - now
if failed > 0 then
  text = text .. string.format(' %.0f 0 0', failed)
  needed = math.max(needed, YEAR)
end
for _, slot in ipairs(slots) do
  text = text .. string.format(' %.0f %.0f %.0f', slot[1], slot[2], slot[3])
  needed = math.max(needed, slot[1] + span - now)
end
-- Of a name that nobody has used there is nothing to keep. All else is kept, a longer window and a clock
-- that was set back too: the next answer depends on them.
local nothing = #slots == 0 and cool_length == 0 and failed == 0
if text ~= value and not (nothing and value == '') then
  redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', math.max(1, math.min(needed, LONGEST_TTL))))
end
return { allowed and 1 or 0, attempts, retries, left, failed > 0 and failed or nil }
