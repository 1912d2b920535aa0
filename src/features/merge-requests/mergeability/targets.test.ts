import { expect, test } from 'vitest'
import { startForge } from '../../../forge.ts'
import { rememberTarget } from './check.ts'

test('who was slow does not put back where a branch stood', async () => {
  await using forge = await startForge()
  const { app } = forge
  const { id } = await forge.project()
  const place = { project_id: id, target_branch: 'master' }
  const tips = () => app.db.selectFrom('merge_targets').select('sha').where('project_id', '=', id).execute()
  const pushed = (sha: string | null) => rememberTarget(app, place, async () => sha)
  const slowly = async (seen: string, next: string | null) => {
    let now: string | null = seen
    await rememberTarget(app, place, async () => {
      const read = now
      if (now === seen) await pushed((now = next))
      return read
    })
  }
  await slowly('a1', 'a2')
  expect(await tips()).toEqual([{ sha: 'a2' }])
  await slowly('a3', 'a4')
  expect(await tips()).toEqual([{ sha: 'a4' }])
  await slowly('a5', null)
  expect(await tips()).toEqual([{ sha: null }])
  await pushed('a6')
  expect(await tips()).toEqual([{ sha: 'a6' }])
})
