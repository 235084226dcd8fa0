-- Answers a question about a shared retry budget, atomically. `Ledger::answer` in budget.rs is the same formula; a test
-- compares the two.
--
-- KEYS[1]  the budget
-- ARGV     window (ms), minimum of attempts, ratio (retries per million attempts), question
-- Returns  1 if a retry is allowed, attempts and retries before this step
--
-- The value is a list of decimal numbers with commas: the longest window, and then end, attempts and retries of each
-- slot.
local SLOTS_PER_WINDOW, MOST_SLOTS, LONGEST_TTL = 60, 128, 1e13

local window, least, ratio = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local question = ARGV[4]

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local value = redis.call('GET', KEYS[1]) or ''
local numbers = {}
for number in (value == '' and '0' or value):gmatch('%d+') do
  numbers[#numbers + 1] = tonumber(number)
end
if value:find('[^%d,]') or #numbers % 3 ~= 1 then
  return redis.error_reply('FOREIGN this key was not written by backoff')
end
local span = numbers[1]

-- Drop slots past the longest window, which is forgotten together with the last slot.
local begins = now - span
if #numbers == 1 or numbers[#numbers - 2] <= begins then span = 0 end
span = math.max(span, window)
local width = math.max(1, math.floor(span / SLOTS_PER_WINDOW))
local slot_end = (math.floor(now / width) + 1) * width

local slots, attempts, retries = {}, 0, 0
for i = 2, #numbers, 3 do
  if numbers[i] > begins then
    -- If the clock was set back, slots in the future join the current slot.
    local slot = { math.min(numbers[i], slot_end), numbers[i + 1], numbers[i + 2] }
    if slot[1] > now - window then
      attempts, retries = attempts + slot[2], retries + slot[3]
    end
    local last = slots[#slots]
    if last and last[1] == slot[1] then
      last[2], last[3] = last[2] + slot[2], last[3] + slot[3]
    else
      slots[#slots + 1] = slot
    end
  end
end
local allowed = attempts < least or retries * 1000000 < ratio * attempts

if question == 'attempt' or allowed then
  local last = slots[#slots]
  if not last or last[1] < slot_end then
    last = { slot_end, 0, 0 }
    slots[#slots + 1] = last
  end
  last[2], last[3] = last[2] + 1, last[3] + (question == 'retry' and 1 or 0)
  if #slots > MOST_SLOTS then
    slots[2][2], slots[2][3] = slots[2][2] + slots[1][2], slots[2][3] + slots[1][3]
    table.remove(slots, 1)
  end
end

local text = string.format('%.0f', span)
local ttl = 1
for _, slot in ipairs(slots) do
  text = text .. string.format(',%.0f,%.0f,%.0f', unpack(slot))
  ttl = math.max(ttl, slot[1] + span - now)
end
-- A name that no run has used needs no key. Any other change is kept, as the next answer depends on it.
local is_unused = value == '' and #slots == 0
if text ~= value and not is_unused then
  redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', math.min(ttl, LONGEST_TTL)))
end
return { allowed and 1 or 0, attempts, retries }
