import { expect, test } from 'vitest'
import { longestStall } from '../../../test/effort.ts'
import { finder, patternFault, PatternTooSlow } from './patterns.ts'

test('patterns of RE2 pass', async () => {
  for (const pattern of [
    '',
    '^(feature|hotfix)/.*',
    '(?i)JIRA-\\d+',
    '\\.(exe|dll)$',
    '\\p{L}{1,1000}',
    '[[:word:]]',
  ]) {
    expect([pattern, await patternFault(pattern)]).toEqual([pattern, null])
  }
})

test('everything else is told apart, also what other engines would take', async () => {
  const faults = [
    ['(', 'missing closing )'],
    ['[a', 'missing closing ]'],
    ['a**', 'invalid nested repetition operator'],
    ['(?=x)', 'invalid or unsupported Perl syntax'],
    ['(a)\\1', 'invalid escape sequence'],
    ['((a{100}){100}){100}', 'invalid repeat count'],
  ]
  for (const [pattern, fault] of faults) expect([pattern, await patternFault(pattern!)]).toEqual([pattern, fault])
})

test('a text is told from others, also where it takes a worker to find out', async () => {
  const long = `${'x'.repeat(100_000)} JIRA-12`
  for (const texts of [
    ['JIRA-1', 'none'],
    [long, 'none'],
  ]) {
    const found = await finder('^.*JIRA-\\d{1,6}$', texts)
    expect(texts.map(found)).toEqual([true, false])
  }
  expect((await finder('^b$', ['a\nb']))('a\nb')).toBe(false)
  expect((await finder('^b$', ['a\nb'], { lines: true }))('a\nb')).toBe(true)
  await expect(finder('(', ['x'])).rejects.toThrow('missing closing )')
})

test('no pattern keeps the others waiting', async () => {
  const slow = '(?i)((\\p{L}|\\w){1,30}x?){30}0'
  const { answer, stall } = await longestStall(() =>
    Promise.allSettled([
      patternFault('(\\w+x?){999}'.repeat(42)),
      finder(slow, ['ab'.repeat(30_000)]),
      finder(slow, ['ba'.repeat(30_000)]),
      finder(slow, ['cd'.repeat(30_000)]),
    ]),
  )
  expect(answer[0]).toMatchObject({ status: 'fulfilled' })
  for (const one of answer.slice(1)) expect(one).toMatchObject({ reason: expect.any(PatternTooSlow) })
  expect(stall).toBeLessThan(200)
})

test('a caller with many slow patterns holds up nobody else', async () => {
  const slow = '(?i)((\\p{L}|\\w){1,30}x?){30}0'
  const order: string[] = []
  const search = async (name: string, key: number, pattern: string, text: string) => {
    await finder(pattern, [text], { caller: { key, isAnonymous: false } }).catch(() => null)
    order.push(name)
  }
  const flood = Array.from({ length: 4 }, (_, n) => search('slow', 1, slow, `${n}${'ab'.repeat(1000)}`))
  await search('other', 2, '^.*JIRA-\\d{1,6}$', `${'x'.repeat(100_000)} JIRA-12`)
  expect(order.filter((name) => name === 'slow').length).toBeLessThan(3)
  await Promise.all(flood)
})
