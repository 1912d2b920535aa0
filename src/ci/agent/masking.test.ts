import { expect, test } from 'vitest'
import { longestStall } from '../../../test/effort.ts'
import { Masker, PrefixMasker } from './masking.ts'

const mask = (secrets: string[], chunks: string[]) => {
  const masker = new Masker(secrets)
  return Buffer.concat([...chunks.map((chunk) => masker.push(Buffer.from(chunk))), masker.end()]).toString()
}

test.each([
  [['secret'], ['a secret b'], 'a [MASKED] b'],
  [['secret'], ['a sec', 'ret b'], 'a [MASKED] b'],
  [['secret'], 'a secret b'.split(''), 'a [MASKED] b'],
  [['secret'], ['secre', 'x', 'sec'], 'secrexsec'],
  [['abc', 'abcdef'], ['abc', 'def abc', 'd'], '[MASKED] [MASKED]d'],
  [['abcX', 'Xdef'], ['abcX', 'def'], '[MASKED]'],
  [['aa'], ['a', 'aaaa', 'b'], '[MASKED]b'],
  [['ü'], ['\u00fc and u'], '[MASKED] and u'],
  [['', 'x'], ['axb'], 'a[MASKED]b'],
])('%j in %j', (secrets, chunks, expected) => {
  expect(mask(secrets, chunks)).toBe(expected)
})

test('however a text is cut, the secrets are gone and the rest is there', () => {
  const secrets = ['abab', 'babb', 'a-long-one', 'b']
  const letters = ['a', 'b', '-', 'a-long-one', 'abab', '\n']
  let seed = 1
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
  for (let round = 0; round < 300; round++) {
    const text = Array.from({ length: random(60) }, () => letters[random(letters.length)]).join('')
    const chunks: string[] = []
    for (let at = 0; at < text.length;) {
      const length = 1 + random(5)
      chunks.push(text.slice(at, at + length))
      at += length
    }
    // Adjacent secrets may be masked as one or as two.
    const joined = (masked: string) => masked.replace(/(\[MASKED\])+/g, '[MASKED]')
    const whole = joined(mask(secrets, [text]))
    expect([text, joined(mask(secrets, chunks))]).toEqual([text, whole])
    for (const secret of secrets) expect(whole.replaceAll('[MASKED]', '')).not.toContain(secret)
  }
})

test('a secret without an end to it costs no more than its length', async () => {
  const long = 'x'.repeat(500_000)
  const { stall, answer } = await longestStall(async () =>
    mask([long], [long.slice(0, 9), long.slice(9), 'x', 'x', 'x', ' y']),
  )
  expect(answer).toMatch(/^(\[MASKED\])+x* y$/)
  expect(stall).toBeLessThan(2000)
})

test('what follows the beginning of a token is hidden', () => {
  const run = (chunks: string[]) => {
    const masker = new PrefixMasker(['glpat-', 'gl'])
    return Buffer.concat([...chunks.map((chunk) => masker.push(Buffer.from(chunk))), masker.end()]).toString()
  }
  expect(run(['a glpat-abc.d_e b'])).toBe('a glpat-[MASKED] b')
  expect(run('a glpat-abc b'.split(''))).not.toContain('abc')
  expect(run(['nothing here', ' at all'])).toBe('nothing here at all')
})
