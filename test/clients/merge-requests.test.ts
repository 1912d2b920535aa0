/** Merge requests as real clients see them. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pngOf } from '../samples.ts'
import type { Command } from '../start/command.ts'
import * as requests from './gitbeaker-merge-requests.ts'
import { openWorld } from './gitbeaker-tree.ts'
import { runScript } from './scripts.ts'
import { TOKEN, startServer } from './server.ts'

let command: Command
beforeEach(async () => {
  command = await startServer()
})
afterEach(() => command.stop())

test.for([
  ['python', 'python_merge_requests.py'],
  ['ruby', 'ruby_merge_requests.rb'],
] as const)('%s-gitlab', async ([language, script]) => {
  expect(await runScript(language, script, [command.url, TOKEN])).toContain('is content')
})

test('gitbeaker', async () => {
  const world = await openWorld(command.url, TOKEN, pngOf(2, 2))
  const work = await requests.makePlace(world)
  await requests.makeRequests(world, work)
  await requests.findRequests(world, work)
  await requests.changeRequests(world, work)
  await requests.readChanges(world, work)
  await requests.talkInRequests(world, work)
  await requests.reviewRequests(world, work)
  await requests.approveRequests(world, work)
  await requests.mergeRequests(world, work)
  const left = await world.api.MergeRequests.all({ projectId: work.id, state: 'opened' })
  expect(left).toEqual([])
})
