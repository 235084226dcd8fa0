-- Answers a question about a shared retry budget, atomically. `Counts::answer` in policy/budget.rs is the same formula,
-- and a test compares the two.
--
-- KEYS[1]  the budget: time of the last change (ms), attempts, retries
-- ARGV     window (ms), minimum of attempts, ratio, question
-- Returns  1 if a retry is allowed, retries per thousand attempts before this step
local window, least, ratio, question = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local kept = redis.call('GET', KEYS[1]) or now .. ' 0 0'
local at, attempts, retries = kept:match('^([%d.e+-]+) ([%d.e+-]+) ([%d.e+-]+)$')
at, attempts, retries = tonumber(at), tonumber(attempts), tonumber(retries)
if not (at and attempts and retries) then
  return redis.error_reply('FOREIGN this key was not written by backoff')
end

local left = math.exp(-math.max(now - at, 0) / window)
attempts, retries = attempts * left, retries * left
local allowed = math.floor(attempts + 0.5) < least or retries < ratio * attempts
local share = attempts > 0 and math.floor(1000 * retries / attempts + 0.5) or 0
if question == 'attempt' or allowed then attempts = attempts + 1 end
if question == 'retry' and allowed then retries = retries + 1 end

local text = string.format('%.17g %.17g %.17g', now, attempts, retries)
redis.call('SET', KEYS[1], text, 'PX', string.format('%.0f', math.min(12 * window, 1e13)))
return { allowed and 1 or 0, share }
