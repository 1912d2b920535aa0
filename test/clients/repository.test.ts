/** Repositories and their settings, as real clients see them. */
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { pngOf } from '../samples.ts'
import { temporaryFolder, type Command } from '../start/command.ts'
import { workspace } from '../workspace.ts'
import * as repository from './gitbeaker-repository.ts'
import * as rules from './gitbeaker-rules.ts'
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
  ['python', 'python_repository.py'],
  ['python', 'python_repository_rules.py'],
  ['ruby', 'ruby_repository.rb'],
] as const)('%s-gitlab: %s', async ([language, script]) => {
  await using folder = await temporaryFolder()
  expect(await runScript(language, script, [command.url, TOKEN, folder.path])).toContain('is content')
})

test('gitbeaker: what a repository holds', async () => {
  await using folder = await temporaryFolder()
  const world = await openWorld(command.url, TOKEN, pngOf(2, 2))
  const code = await repository.makeCommits(world)
  await repository.readCommits(world, code)
  await repository.judgeCommits(world, code)
  await repository.pickCommits(world, code)
  await repository.changeBranches(world, code)
  await repository.changeTags(world, code)
  await repository.changeFiles(world, code)
  await repository.readTrees(world, code)
  await repository.unpackArchives(world, code, folder.path)
  await repository.compareRefs(world, code)
  const branches = await world.api.Branches.all(code.id)
  expect(branches.map(({ name }) => name)).toEqual(['master', 'paper', 'past', 'topic'])
})

test('gitbeaker: what stands around a repository', async () => {
  const world = await openWorld(command.url, TOKEN, pngOf(2, 2))
  const id = await rules.makeProject(world)
  await rules.protectBranches(world, id)
  await rules.protectTags(world, id)
  await rules.publishReleases(world, id)
  await rules.changeKeys(world, id)
  await rules.changeDeployTokens(world, id)
  await rules.writeWiki(world, id)
  const counted = await rules.tidyUp(world, id)
  expect(counted).toMatchObject({ commit_count: 1, lfs_objects_size: 0 })
  expect(counted!.repository_size).toBeGreaterThan(0)
})

test('git and git-lfs at the addresses that a project tells', async () => {
  await using place = await workspace()
  const api = new Gitlab({ host: command.url, token: TOKEN })
  const { id, http_url_to_repo, ssh_url_to_repo } = await api.Projects.create({ name: 'Saw' })
  const git = await signedInGit(place, api)
  await git('lfs', 'install')

  const blade = randomBytes(200_000)
  await git('init', '--quiet', '--initial-branch=master', 'first')
  await git('-C', 'first', 'lfs', 'track', '*.bin')
  await writeFile(join(place.folder, 'first', 'blade.bin'), blade)
  await git('-C', 'first', 'add', '.')
  await git('-C', 'first', 'commit', '--quiet', '--message', 'A blade')
  await git('-C', 'first', 'push', '--quiet', ssh_url_to_repo, 'master')
  const stored = await api.RepositoryFiles.showRaw(id, 'blade.bin', 'master')
  expect(stored).toContain('version https://git-lfs')

  for (const [name, address] of Object.entries({ http: http_url_to_repo, ssh: ssh_url_to_repo })) {
    await git('clone', '--quiet', address, name)
    expect((await readFile(join(place.folder, name, 'blade.bin'))).equals(blade), name).toBe(true)
    await writeFile(join(place.folder, name, `${name}.bin`), randomBytes(1000))
    await git('-C', name, 'add', '.')
    await git('-C', name, 'commit', '--quiet', '--message', `Over ${name}`)
    await git('-C', name, 'push', '--quiet', 'origin', `HEAD:by-${name}`)
    await git('-C', name, 'lfs', 'fetch', '--all')
    await git('-C', name, 'lfs', 'fsck')
    expect(await api.Branches.show(id, `by-${name}`)).toMatchObject({ commit: { title: `Over ${name}` } })
  }
  expect(await api.Projects.show(id, { statistics: true })).toMatchObject({ statistics: { lfs_objects_size: 202_000 } })
})
