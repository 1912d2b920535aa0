import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fillProject } from '../../../../test/contents.ts'
import { runGit } from '../../../../test/git-origin.ts'
import { addressFor, workspace } from '../../../../test/workspace.ts'
import { HOUR } from '../../../clock.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { writeObject } from '../../../git/objects/loose.ts'
import { housekeep, removeRepository } from '../../../git/storage/repositories.ts'
import { findProject } from '../../projects/projects/queries.ts'
import { repositoryDir, wikiDir } from '../../projects/repositories/repository.ts'
import type { CheckOptions, Finding } from './findings.ts'
import { checkRepositories } from './service.ts'

async function findings({ app }: TestForge): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for await (const { path, faults } of checkRepositories(app)) found[path] = faults
  return found
}

async function findingsOf({ app }: TestForge, options: CheckOptions = {}): Promise<Finding[]> {
  const found: Finding[] = []
  for await (const finding of checkRepositories(app, options)) found.push(finding)
  return found
}

test('each fault of a repository and of what the store says of it is told, of sound ones none', async () => {
  await using forge = await startForge()
  await using work = await workspace()
  const ann = await forge.user({ username: 'ann' })
  for (const path of ['sound', 'empty', 'broken', 'gone', 'headless', 'misjudged']) await forge.project({ path }, ann)
  const { git } = work
  await git('init', '-q', '-b', 'master', 'src')
  await git('-C', 'src', 'commit', '-qm', 'First', '--allow-empty')
  for (const path of ['sound', 'broken', 'headless', 'misjudged']) {
    await git('-C', 'src', 'push', '-q', addressFor(forge, `ann/${path}`, ann), 'master')
  }
  await forge.settle()
  const none = {
    'ann/empty': [],
    'ann/gone': [],
    'ann/headless': [],
    'ann/misjudged': [],
    'ann/sound': [],
    'ann/broken': [],
  }
  expect(await findings(forge)).toEqual(none)

  const folder = async (path: string) => repositoryDir(forge.app, (await findProject(forge.app.db, `ann/${path}`))!)
  await rm(join(await folder('broken'), 'objects'), { recursive: true })
  await git('-C', await folder('headless'), 'symbolic-ref', 'HEAD', 'refs/heads/other')
  await rm(await folder('gone'), { recursive: true })
  await forge.app.db.updateTable('projects').set({ empty_repo: true }).where('path', '=', 'misjudged').execute()
  const found = await findings(forge)
  expect(found).toMatchObject({
    'ann/sound': [],
    'ann/empty': [],
    'ann/gone': ['there is no repository'],
    'ann/headless': ['HEAD names other, the store master'],
    'ann/misjudged': ['the store calls it empty'],
  })
  expect(found['ann/broken']).not.toEqual([])
})

test('a repair mends what the row and HEAD say wrongly, and nothing else', async () => {
  await using forge = await startForge()
  const dirs: Record<string, string> = {}
  for (const path of ['sound', 'headless', 'misjudged', 'broken', 'bare']) {
    const { id } = await forge.project({ path })
    if (path !== 'bare') dirs[path] = await fillProject(forge, id)
  }
  const { db } = forge.app
  await runGit([`--git-dir=${dirs.headless}`, 'symbolic-ref', 'HEAD', 'refs/heads/other'])
  await db.updateTable('projects').set({ empty_repo: true }).where('path', '=', 'misjudged').execute()
  const commit = await runGit([`--git-dir=${dirs.broken}`, 'rev-parse', 'master'])
  await writeFile(join(dirs.broken!, 'refs/heads/master'), `${commit.replaceAll(/[0-9]/g, 'f')}\n`)
  const rows = () => db.selectFrom('projects').selectAll().where('path', 'in', ['sound', 'broken', 'bare']).execute()
  const before = await rows()

  const found = await findingsOf(forge, { repair: true })
  const of = (path: string) => found.find((finding) => finding.path.endsWith(`/${path}`))!
  expect(of('sound')).toMatchObject({ faults: [], repairs: [] })
  expect(of('bare')).toMatchObject({ faults: [], repairs: [] })
  expect(of('headless')).toMatchObject({ faults: [], repairs: ['made HEAD name master'] })
  expect(of('misjudged')).toMatchObject({ faults: [], repairs: ['noted that it is not empty'] })
  expect(of('broken').faults).not.toEqual([])
  expect(await rows()).toEqual(before)
  const again = await findingsOf(forge)
  expect(again.filter(({ faults }) => faults.length > 0)).toHaveLength(1)
})

test('what killed processes left is no fault; a repair removes what is old', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const dir = await fillProject(forge, id)
  const whole = await readdir(dir, { recursive: true })
  const left = ['tmp_ref_old', 'objects/pack/tmp_pack_old', 'objects/tmp_objdir-incoming-old', 'refs/heads/old.lock']
  const long = new Date(Date.now() - 2 * HOUR)
  for (const name of left) {
    await writeFile(join(dir, name), 'half')
    await utimes(join(dir, name), long, long)
  }
  await writeFile(join(dir, 'tmp_ref_young'), 'half')
  await symlink('nobody', join(dir, 'refs/heads/young.lock'))
  const young = ['refs/heads/young.lock', 'tmp_ref_young']
  const found = await findingsOf(forge)
  expect(found).toMatchObject([{ faults: [], repairs: [] }])
  expect(found[0]!.leftovers!.toSorted()).toEqual(left.toSorted())

  const [repaired] = await findingsOf(forge, { repair: true })
  expect(repaired).toMatchObject({ faults: [], leftovers: [] })
  expect(repaired!.repairs!.toSorted()).toEqual(left.map((name) => `removed ${name}`).toSorted())
  expect((await readdir(dir, { recursive: true })).toSorted()).toEqual([...whole, ...young].toSorted())
})

test('a wiki is looked at like its project', async () => {
  await using forge = await startForge()
  const { id, path_with_namespace: path } = await forge.project()
  await fillProject(forge, id)
  const page = { title: 'Home', content: 'x' }
  expect((await forge.administrator.post(`/projects/${id}/wikis`, page)).status).toBe(201)
  expect(await findings(forge)).toEqual({ [path]: [] })
  const dir = wikiDir(forge.app, (await findProject(forge.app.db, path))!)
  await writeFile(join(dir, 'tmp_ref_old'), 'half')
  const long = new Date(Date.now() - 2 * HOUR)
  await utimes(join(dir, 'tmp_ref_old'), long, long)
  expect(await findingsOf(forge)).toMatchObject([{ faults: [], leftovers: ['wiki: tmp_ref_old'] }])
  expect(await findingsOf(forge, { repair: true })).toMatchObject([{ repairs: ['wiki: removed tmp_ref_old'] }])
  expect(await readdir(dir)).not.toContain('tmp_ref_old')
  await rm(join(dir, 'objects'), { recursive: true })
  expect((await findings(forge))[path]![0]).toMatch(/^wiki: /)
})

test('a commit from a far future is no fault', async () => {
  await using forge = await startForge()
  const { id, path_with_namespace: path } = await forge.project()
  const dir = await fillProject(forge, id)
  const signature = `A <a@x> ${2 ** 35} +0000`
  const tree = await runGit([`--git-dir=${dir}`, 'rev-parse', 'master^{tree}'])
  const commit = await writeObject(
    dir,
    'commit',
    `tree ${tree}\nauthor ${signature}\ncommitter ${signature}\n\nLater\n`,
  )
  await runGit([`--git-dir=${dir}`, 'update-ref', 'refs/heads/later', commit])
  await housekeep(dir)
  expect(await findings(forge)).toEqual({ [path]: [] })
})

test('so is each fault of pools and of those that use them', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const { id } = await forge.project({ path: 'source', visibility: 'public' }, ann)
  await fillProject(forge, id)
  for (const path of ['one', 'two']) await ann.post(`/projects/${id}/fork`, { name: path, path })
  await forge.settle()
  const { db, config } = forge.app
  const { disk_path: pool } = await db.selectFrom('pools').selectAll().executeTakeFirstOrThrow()
  const sound = { 'ann/source': [], 'ann/one': [], 'ann/two': [], [pool]: [] }
  expect(await findings(forge)).toEqual(sound)

  const storage = config.storages['default']!
  const one = repositoryDir(forge.app, (await findProject(db, 'ann/one'))!)
  await writeFile(join(one, 'objects/info/alternates'), '../../elsewhere.git/objects\n')
  await mkdir(join(storage, '@pools/00/nobodys.git'), { recursive: true })
  const elsewhere = `it shares the objects of ${join(one, '../elsewhere.git')}, which`
  expect(await findings(forge)).toEqual({
    ...sound,
    'ann/one': [`${elsewhere} the store does not know of`, `${elsewhere} is not there`],
    '@pools/00/nobodys.git': ['the store does not know of it'],
  })

  await removeRepository(join(storage, '@pools/00/nobodys.git'))
  await rm(join(one, 'objects/info/alternates'))
  await removeRepository(join(storage, pool))
  await db.updateTable('projects').set({ pool_id: null }).execute()
  const unknown = `it shares the objects of ${join(storage, pool)}, which`
  const lost = [`${unknown} the store does not know of`, `${unknown} is not there`]
  expect(await findings(forge)).toMatchObject({
    'ann/source': lost,
    'ann/two': lost,
    [pool]: ['no project uses it', 'there is no repository'],
  })
})
