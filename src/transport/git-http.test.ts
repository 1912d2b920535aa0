import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { addressFor, workplace } from '../../test/workplace.ts'
import { startForge, type Person } from '../forge.ts'

test('a repository is pushed to, cloned and fetched from with plain git, in every protocol', async () => {
  await using forge = await startForge()
  await using work = await workplace()
  const ann = await forge.user({ username: 'ann' })
  const project = await forge.project({ path: 'engine', visibility: 'public' }, ann)
  const { git } = work
  await git('init', '-q', '-b', 'trunk', 'src')
  await writeFile(join(work.folder, 'src', 'README.md'), '# Engine\n')
  await git('-C', 'src', 'add', '.')
  await git('-C', 'src', 'commit', '-qm', 'First')
  const pushed = await git('-C', 'src', 'push', addressFor(forge, 'ann/engine', ann), 'trunk', '--tags')
  expect(pushed).toMatchObject({ code: 0, stderr: expect.stringContaining('[new branch]') })

  const head = (await git('-C', 'src', 'rev-parse', 'HEAD')).stdout
  expect((await ann.get(`/projects/${project.id}`)).body).toMatchObject({ default_branch: 'trunk', empty_repo: false })
  expect(await forge.events()).toContain('repository.changed')
  for (const version of ['0', '1', '2']) {
    const clone = await git(
      '-c',
      `protocol.version=${version}`,
      'clone',
      '-q',
      addressFor(forge, 'ann/engine'),
      version,
    )
    expect([version, clone]).toMatchObject([version, { code: 0 }])
    expect((await git('-C', version, 'rev-parse', 'HEAD')).stdout).toBe(head)
  }
  const shallow = await git('clone', '-q', '--depth=1', '--filter=blob:none', addressFor(forge, 'ANN/Engine'), 'thin')
  expect(shallow.code).toBe(0)

  forge.clock.advance(10_000)
  await forge.settle()
  const { body } = await ann.get(`/projects/${project.id}`, { statistics: true })
  expect(body.statistics.commit_count).toBe(1)
  expect(body.readme_url).toBe(`${forge.url}/ann/engine/blob/trunk/README.md`)

  await git('-C', 'src', 'switch', '-qc', 'topic')
  await git('-C', 'src', 'commit', '-qm', 'Second', '--allow-empty')
  const linked = await git('-C', 'src', 'push', addressFor(forge, 'ann/engine', ann), 'topic')
  expect(linked.stderr).toContain(`remote: To create a merge request for topic, visit:`)
})

test('whoever may not is told why, and nothing moves', async () => {
  await using forge = await startForge()
  await using work = await workplace()
  const [ann, ben] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'ben' })]
  await forge.project({ path: 'open', visibility: 'public' }, ann)
  await forge.project({ path: 'closed' }, ann)
  const { git } = work
  await git('init', '-q', '-b', 'master', 'src')
  await git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
  for (const path of ['ann/open', 'ann/closed'])
    await git('-C', 'src', 'push', '-q', addressFor(forge, path, ann), 'master')
  await git('-C', 'src', 'commit', '-qm', 'Second', '--allow-empty')
  const before = await forge.events()

  const push = (path: string, who?: Person, ...more: string[]) =>
    git('-C', 'src', 'push', ...more, addressFor(forge, path, who), 'HEAD:master')
  const table: [string, Promise<{ code: number; stderr: string }>, string][] = [
    ['a visitor', push('ann/open'), 'could not read Username'],
    ['a stranger', push('ann/open', ben), 'You are not allowed to push code to this project.'],
    ['a stranger, on what they cannot see', push('ann/closed', ben), 'could not be found'],
    ['nowhere', push('ann/nothing', ann), 'could not be found'],
    ['a clone of a private project', git('clone', addressFor(forge, 'ann/closed'), 'x'), 'could not read Username'],
  ]
  for (const [what, asked, said] of table) {
    const { code, stderr } = await asked
    expect([what, code === 0, stderr]).toEqual([what, false, expect.stringContaining(said)])
  }
  expect(await forge.events()).toEqual(before)

  await git('-C', 'src', 'commit', '-qm', 'Other', '--amend', '--allow-empty')
  await git('-C', 'src', 'push', '-q', addressFor(forge, 'ann/open', ann), 'HEAD:master')
  await git('-C', 'src', 'commit', '-qm', 'Rewritten', '--amend', '--allow-empty')
  const forced = await push('ann/open', ann, '--force')
  expect(forced.stderr).toContain(
    'remote: Mortise: You are not allowed to force push code to a protected branch on this project.',
  )
  expect(forced.stderr).toContain('(pre-receive hook declined)')
})
