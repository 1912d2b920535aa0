import { expect, test } from 'vitest'
import { weakMemoAsync } from './weak-memo.ts'

test('a promise is made once for each object, and again after a failure', async () => {
  const answers = [Promise.reject(new Error('down')), Promise.resolve(1), Promise.resolve(2)]
  const read = weakMemoAsync<object, number>(() => answers.shift()!)
  const [one, other] = [{}, {}]
  const attempts = [read(one), read(one)]
  for (const attempt of attempts) await expect(attempt).rejects.toThrow('down')
  expect([await read(one), await read(one), await read(other)]).toEqual([1, 1, 2])
})
