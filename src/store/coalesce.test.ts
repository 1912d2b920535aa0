import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { coalesce } from './coalesce.ts'

test('who asks while a run goes on shares the next, and none before it has begun', async () => {
  let [begun, ended] = [0, 0]
  const { run, settled } = coalesce(async () => {
    begun++
    await sleep(5)
    ended++
  })
  const first = run()
  await sleep(1)
  expect(begun).toBe(1)
  const others = [run(), run(), run()]
  await first
  expect(ended).toBe(1)
  await Promise.all(others)
  expect([begun, ended]).toEqual([2, 2])
  void run()
  await settled()
  expect([begun, ended]).toEqual([3, 3])
})

test('after a failure nobody hears of success again', async () => {
  let runs = 0
  const { run, settled } = coalesce(async () => {
    if (++runs === 2) throw new Error('the disk is gone')
  })
  await run()
  await expect(run()).rejects.toThrow('the disk is gone')
  await expect(run()).rejects.toThrow('the disk is gone')
  await expect(settled()).rejects.toThrow('the disk is gone')
  expect(runs).toBe(2)
})
