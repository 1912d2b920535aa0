import { expect, test } from 'vitest'
import { withoutSecrets } from './masked-url.ts'

test.each([
  ['https://example.com/in', 'https://example.com/in'],
  ['https://jane:hunter2@example.com/in?x=1', 'https://[REDACTED]@example.com/in?x=1'],
  ['https://hunter2@example.com', 'https://[REDACTED]@example.com'],
  ['https://example.com/in?token=hunter2&x=1#a', 'https://example.com/in?token=[REDACTED]&x=1#a'],
  [
    'https://example.com/?X-Api-Key=hunter2&access_token=hunter2',
    'https://example.com/?X-Api-Key=[REDACTED]&access_token=[REDACTED]',
  ],
  ['https://example.com/?private_token=', 'https://example.com/?private_token=[REDACTED]'],
  ['https://example.com/a@b?monkey=1&tokens', 'https://example.com/a@b?monkey=1&tokens'],
  ['https://example.com/{secret}', 'https://example.com/{secret}'],
])('%s is shown as %s', (url, shown) => expect(withoutSecrets(url)).toBe(shown))
