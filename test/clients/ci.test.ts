/** Pipelines and related records, as real clients see them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { pngOf } from '../samples.ts'
import type { Command } from '../start/command.ts'
import * as ci from './gitbeaker-ci.ts'
import * as jobs from './gitbeaker-jobs.ts'
import { openWorld } from './gitbeaker-tree.ts'
import { runScript } from './scripts.ts'
import { TOKEN, startServer } from './server.ts'

describe('without runners', () => {
  let command: Command
  beforeEach(async () => {
    command = await startServer()
  })
  afterEach(() => command.stop())

  test.for([
    ['python', 'python_ci.py'],
    ['ruby', 'ruby_ci.rb'],
  ] as const)('%s-gitlab', async ([language, script]) => {
    expect(await runScript(language, script, [command.url, TOKEN])).toContain('is content')
  })

  test('gitbeaker', async () => {
    const world = await openWorld(command.url, TOKEN, pngOf(2, 2))
    const mill = await ci.makeMill(world)
    await ci.changeVariables(world, mill)
    await ci.runPipelines(world, mill)
    await ci.startPipelines(world, mill)
    await ci.deploy(world, mill)
    await ci.checkFiles(world, mill)
    expect((await world.api.Pipelines.all(mill.id)).map(({ source }) => source)).toEqual([
      'schedule',
      'trigger',
      'push',
    ])
  })
})

describe('with a runner beside the server', () => {
  let command: Command
  beforeAll(async () => {
    command = await startServer(['--runner', 'shell'])
  })
  afterAll(() => command.stop())

  test.for([
    ['python', 'python_jobs.py'],
    ['ruby', 'ruby_jobs.rb'],
  ] as const)('%s-gitlab', async ([language, script]) => {
    expect(await runScript(language, script, [command.url, TOKEN])).toContain('is content')
  })

  test('gitbeaker', async () => {
    const world = await openWorld(command.url, TOKEN, pngOf(2, 2))
    const forge = await jobs.makeForge(world)
    await jobs.runJobs(world, forge)
    await jobs.changeRunners(world, forge)
    await jobs.limitJobs(world, forge)
    await jobs.reportStatuses(world, forge)
    expect((await world.api.Pipelines.all(forge.id)).map(({ source }) => source)).toEqual(['push'])
  })
})
