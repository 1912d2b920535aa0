/** Merge requests as real clients see them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pngOf } from '../samples.ts'
import { until, type Command } from '../start/command.ts'
import { workspace } from '../workspace.ts'
import * as requests from './gitbeaker-merge-requests.ts'
import { signedInGit } from './git.ts'
import { openWorld } from './gitbeaker-tree.ts'
import { runScript } from './scripts.ts'
import { TOKEN, startServer } from './server.ts'

let command: Command
beforeEach(async () => {
  command = await startServer(['--ssh-port', '0'])
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
  const work = await requests.makeProject(world)
  await requests.makeRequests(world, work)
  await requests.findRequests(world, work)
  await requests.changeRequests(world, work)
  await requests.readChanges(world, work)
  await requests.commentOnRequests(world, work)
  await requests.reviewRequests(world, work)
  await requests.approveRequests(world, work)
  await requests.mergeRequests(world, work)
  const left = await world.api.MergeRequests.all({ projectId: work.id, state: 'opened' })
  expect(left).toEqual([])
})

test('git push makes a merge request, changes it and has it merged, over HTTP and SSH', async () => {
  await using place = await workspace()
  const api = new Gitlab({ host: command.url, token: TOKEN, rateLimits: { '**': 3000 } })
  const { id, http_url_to_repo, ssh_url_to_repo } = await api.Projects.create({ name: 'Saw' })
  const git = await signedInGit(place, api)
  await git('init', '--quiet', '--initial-branch=master', 'saw')
  const commit = async (name: string, message: string) => {
    await writeFile(join(place.folder, 'saw', name), `${name}\n`)
    await git('-C', 'saw', 'add', '.')
    await git('-C', 'saw', 'commit', '--quiet', '--message', message)
  }
  await commit('first.txt', 'Begin')
  await git('-C', 'saw', 'push', '--quiet', http_url_to_repo, 'master')

  for (const [iid, [name, address]] of Object.entries({ http: http_url_to_repo, ssh: ssh_url_to_repo }).entries()) {
    const number = iid + 1
    const push = async (...given: string[]) => {
      const flags = given.flatMap((one) => ['-o', one])
      return (await git('-C', 'saw', 'push', ...flags, address, `HEAD:refs/heads/by-${name}`)).stderr
    }
    await git('-C', 'saw', 'switch', '--quiet', '--create', name, 'master')
    await commit(`${name}.txt`, `Over ${name}\n\nAs it is done.`)
    const made = ['create', 'target=master', 'label=ready', 'assign=root', 'remove_source_branch']
    expect(await push(...made.map((one) => `merge_request.${one}`))).toContain(
      `${command.url}/root/saw/-/merge_requests/${number}`,
    )
    expect(await api.MergeRequests.show(id, number)).toMatchObject({
      title: `Over ${name}`,
      description: 'As it is done.',
      source_branch: `by-${name}`,
      target_branch: 'master',
      labels: ['ready'],
      assignees: [{ username: 'root' }],
      force_remove_source_branch: true,
      changes_count: '1',
    })
    await commit(`${name}-more.txt`, 'More')
    expect(await push(`merge_request.title=By ${name}`, 'mr.unlabel=ready')).toContain('View merge request')
    expect(await api.MergeRequests.show(id, number)).toMatchObject({
      title: `By ${name}`,
      labels: [],
      changes_count: '2',
    })
    await commit(`${name}-last.txt`, 'Last')
    await push('merge_request.merge_when_pipeline_succeeds')
    await until(async () => (await api.MergeRequests.show(id, number)).state === 'merged')
    await until(async () => (await api.Branches.all(id)).map((one) => one.name).join() === 'master')
  }
  await git('clone', '--quiet', http_url_to_repo, 'merged')
  const found = (await git('-C', 'merged', 'ls-files')).stdout.split('\n')
  const names = ['http', 'ssh'].flatMap((one) => [`${one}-last.txt`, `${one}-more.txt`, `${one}.txt`])
  expect(found).toEqual(['first.txt', ...names])
})
