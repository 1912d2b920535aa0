import { afterEach, expect, test } from 'vitest'
import { processesOf } from '../../../../test/git-builder.ts'
import { openProposals } from '../../../../test/proposals.ts'
import { startForge } from '../../../forge.ts'
import { patience } from '../../../git/merging/trying.ts'

/** The number of git merges during the work. */
const triesIn = async (work: () => Promise<unknown>) =>
  (await processesOf(work)).filter((words) => words.includes('merge-tree')).length

const usual = patience.ms
const setSlow = (is: boolean) => void (patience.ms = is ? 0 : usual)
afterEach(() => setSlow(false))

const MINUTE = 60_000

test('a merge check that timed out in git is not repeated by readers', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const { propose, at, push, url } = await openProposals(forge, owner)
  const one = await propose('Saws')
  await push('master')
  await forge.settle()
  setSlow(true)
  const renew = async () => {
    await push('master')
    await forge.settle()
  }
  expect(await triesIn(renew)).toBe(1)
  const look = async () => {
    for (let n = 0; n < 3; n++) {
      expect((await owner.get(one.url)).body).toMatchObject({
        merge_status: 'unchecked',
        detailed_merge_status: 'checking',
        has_conflicts: false,
      })
      expect((await owner.get(url)).body[0]).toMatchObject({ merge_status: 'unchecked' })
    }
    const { body } = await owner.get(`${one.url}/mergeability`)
    expect(body).toMatchObject({ mergeable: false, merge_status: 'unchecked', detailed_merge_status: 'checking' })
    expect(body.gates.filter(({ state }: { state: string }) => state === 'waiting')).toEqual([
      {
        name: 'conflict',
        state: 'waiting',
        reason: 'The conflict check timed out and will be retried',
        lifted_by: ['server', 'author', 'developers'],
      },
    ])
    const tip = async () => (await owner.get(`${at}/repository/branches/master`)).body.commit.id
    const before = await tip()
    expect(await owner.put(`${one.url}/merge`)).toMatchObject({
      status: 405,
      body: { message: 'Branch cannot be merged' },
    })
    expect(await tip()).toBe(before)
  }
  expect(await triesIn(look)).toBe(0)

  // Retried by the job at growing intervals.
  const tried = (minutes: number) =>
    triesIn(async () => {
      forge.clock.advance(minutes * MINUTE)
      await forge.settle()
    })
  expect([await tried(9), await tried(2), await tried(18), await tried(3)]).toEqual([0, 1, 0, 1])
  setSlow(false)
  expect(await tried(41)).toBe(1)
  expect((await owner.get(one.url)).body).toMatchObject({ merge_status: 'can_be_merged' })
  expect((await owner.put(`${one.url}/merge`)).body).toMatchObject({ state: 'merged' })
})

test('it is given up one day, and begun anew with other commits', async () => {
  await using forge = await startForge()
  const owner = await forge.user()
  const { propose, push } = await openProposals(forge, owner)
  const one = await propose('Saws')
  setSlow(true)
  const wait = async () => {
    await push('master')
    for (let n = 0; n < 12; n++) {
      await forge.settle()
      forge.clock.advance(24 * 60 * MINUTE)
    }
    await forge.settle()
  }
  // Once for the push, and six retries.
  expect(await triesIn(wait)).toBe(7)
  setSlow(false)
  await push(one.source_branch)
  await forge.settle()
  expect((await owner.get(one.url)).body).toMatchObject({ merge_status: 'can_be_merged' })
})
