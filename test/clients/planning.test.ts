/** Issues and other planning records, as real clients see them. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pngOf } from '../samples.ts'
import type { Command } from '../start/command.ts'
import * as around from './gitbeaker-around.ts'
import * as planning from './gitbeaker-planning.ts'
import { openWorld } from './gitbeaker-tree.ts'
import { runScript } from './scripts.ts'
import { TOKEN, startServer } from './server.ts'

let command: Command
beforeEach(async () => {
  command = await startServer()
})
afterEach(() => command.stop())

test.for([
  ['python', 'python_planning.py'],
  ['ruby', 'ruby_planning.rb'],
] as const)('%s-gitlab', async ([language, script]) => {
  expect(await runScript(language, script, [command.url, TOKEN])).toContain('is content')
})

test('gitbeaker', async () => {
  const world = await openWorld(command.url, TOKEN, pngOf(2, 2))
  const plan = await planning.makeProject(world)
  await planning.changeLabels(world, plan)
  const milestone = await planning.changeMilestones(world, plan)
  await planning.changeIssues(world, plan, milestone)
  await planning.findIssues(world, plan)
  await planning.workThroughTodos(world, plan)
  await planning.linkIssues(world, plan)
  await planning.moveIssues(world, plan)
  await planning.changeBoards(world, plan)
  await planning.commentOnIssues(world, plan)
  await planning.commentOnCommits(world, plan)
  await planning.readHistory(world, plan)
  await around.keepSnippets(world, plan)
  await around.searchEverywhere(world, plan)
  await around.renderTexts(world)
  await around.changeNotifications(world, plan)
  await around.changeTopics(world, plan)
  await around.changeAccessTokens(world, plan)
  await around.changeCustomAttributes(world, plan)
  expect((await world.api.Issues.all({ projectId: plan.id })).map(({ iid }) => iid)).toEqual([6, 5, 2, 1])
})
