/** Groups, projects and members, as real clients see them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pngOf } from '../samples.ts'
import { temporaryFolder, type Command } from '../start/command.ts'
import * as gitbeaker from './gitbeaker-tree.ts'
import { runScript } from './scripts.ts'
import { TOKEN, startServer } from './server.ts'

let command: Command
beforeEach(async () => {
  command = await startServer()
})
afterEach(() => command.stop())

test.for([
  ['python', 'python_tree.py'],
  ['ruby', 'ruby_tree.rb'],
] as const)('%s-gitlab', async ([language, script]) => {
  await using folder = await temporaryFolder()
  const picture = join(folder.path, 'avatar.png')
  await writeFile(picture, pngOf(2, 2))
  expect(await runScript(language, script, [command.url, TOKEN, picture])).toContain('is content')
})

test('gitbeaker', async () => {
  const world = await gitbeaker.openWorld(command.url, TOKEN, pngOf(2, 2))
  const group = await gitbeaker.makeGroups(world)
  await gitbeaker.linkDirectory(world, group)
  const { tool, own } = await gitbeaker.makeProjects(world, group)
  await gitbeaker.changeAttributes(world, tool)
  for (const [kind, id] of [
    ['Group', group],
    ['Project', tool],
  ] as const) {
    await gitbeaker.changeMembers(world, kind, id)
    await gitbeaker.requestAccess(world, kind, id)
    await gitbeaker.inviteSomebody(world, kind, id)
  }
  await gitbeaker.changeUserState(world, tool, own)
  await gitbeaker.forkAndUnlink(world, tool)
  await gitbeaker.changeHooks(world, tool)
  await gitbeaker.changePushRule(world, tool)
  await gitbeaker.uploadFiles(world, tool)
  await gitbeaker.lookAround(world, group)
  expect(await gitbeaker.endWorld(world, group)).toEqual(['gb-gift'])
})
