import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Names } from './names.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A resolver that answers on command. */
function system() {
  const lookups: { host: string; answer: (...addresses: string[]) => void; fail: () => void }[] = []
  const names = new Names((host) => {
    const { promise, resolve, reject } = Promise.withResolvers<{ address: string }[]>()
    const answer = (...addresses: string[]) => resolve(addresses.map((address) => ({ address })))
    lookups.push({ host, answer, fail: () => reject(new Error('ENOTFOUND')) })
    return promise
  })
  const lookup = async (host: string) => (await names.lookup(host)).map(({ address }) => address).join()
  return { asked: lookups, lookup }
}

test('concurrent and following callers share one lookup', async () => {
  const { asked, lookup } = system()
  const both = [lookup('a.example'), lookup('a.example')]
  const other = lookup('b.example')
  asked[0]!.answer('1.1.1.1', '1.1.1.2')
  asked[1]!.answer('2.2.2.2')
  expect(await Promise.all([...both, other])).toEqual(['1.1.1.1,1.1.1.2', '1.1.1.1,1.1.1.2', '2.2.2.2'])
  vi.advanceTimersByTime(9999)
  expect(await lookup('a.example')).toBe('1.1.1.1,1.1.1.2')
  expect(asked.map(({ host }) => host)).toEqual(['a.example', 'b.example'])
})

test('later it is asked again, and what it meant before serves only while that takes long', async () => {
  const { asked, lookup } = system()
  const first = lookup('a.example')
  asked[0]!.answer('1.1.1.1')
  await first

  vi.advanceTimersByTime(10_000)
  const quick = lookup('a.example')
  asked[1]!.answer('2.2.2.2')
  expect(await quick).toBe('2.2.2.2')

  vi.advanceTimersByTime(10_000)
  const slow = [lookup('a.example'), lookup('a.example')]
  await vi.advanceTimersByTimeAsync(500)
  expect(await Promise.all(slow)).toEqual(['2.2.2.2', '2.2.2.2'])
  expect(asked).toHaveLength(3)
  asked[2]!.answer('3.3.3.3')
  await vi.advanceTimersByTimeAsync(1)
  expect(await lookup('a.example')).toBe('3.3.3.3')

  vi.advanceTimersByTime(300_000)
  const old = lookup('a.example')
  await vi.advanceTimersByTimeAsync(500)
  asked[3]!.answer('4.4.4.4')
  expect(await old).toBe('4.4.4.4')
})

test('a name that is gone is gone, and asked for each time', async () => {
  const { asked, lookup } = system()
  for (const n of [0, 1]) {
    const gone = lookup('a.example')
    asked[n]!.fail()
    await expect(gone).rejects.toThrow('ENOTFOUND')
  }
  const found = lookup('a.example')
  asked[2]!.answer('1.1.1.1')
  await found
  vi.advanceTimersByTime(10_000)
  const again = lookup('a.example')
  asked[3]!.fail()
  await expect(again).rejects.toThrow('ENOTFOUND')
})

test('a thousand names are known', async () => {
  const { asked, lookup } = system()
  for (let n = 0; n <= 1000; n++) {
    const found = lookup(`a${n}.example`)
    asked[n]!.answer('1.1.1.1')
    await found
  }
  await lookup('a1.example')
  void lookup('a0.example')
  expect(asked.slice(1001).map(({ host }) => host)).toEqual(['a0.example'])
})
