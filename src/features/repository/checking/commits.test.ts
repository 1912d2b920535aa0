import { execFile } from 'node:child_process'
import { mkdir, readdir, rename, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runGit } from '../../../../test/git-origin.ts'
import { startForge, type TestForge } from '../../../forge.ts'
import { DAY } from '../../../clock.ts'
import { NAMINGS, NOT_LOOKED_FOR } from '../../projects/housekeeping/referenced-commits.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { checkProject } from './service.ts'

const faultsOf = async ({ app }: TestForge, id: number) =>
  (await checkProject(app, (await findProjectById(app.db, id))!, 'p')).faults

/** One record of each kind that names commits. */
async function busyProject(forge: TestForge) {
  const jane = await forge.user()
  const project = await forge.project({}, jane)
  const url = `/projects/${project.id}`
  await forge.seed(project, { 'a.txt': 'one\n' })
  await forge.seed(project, { 'a.txt': 'two\n' }, { branch: 'feature' })
  await forge.seed(project, { 'b.txt': 'b\n' }, { branch: 'feature' })
  const input = { source_branch: 'feature', target_branch: 'master', title: 'Change a', squash: true }
  const { diff_refs: refs } = (await jane.post(`${url}/merge_requests`, input)).body
  const position = { ...refs, position_type: 'text', new_path: 'a.txt', old_path: 'a.txt', new_line: 1 }
  const answers = [
    await jane.post(`${url}/merge_requests/1/discussions`, { body: 'Why?', position }),
    await jane.post(`${url}/merge_requests/1/draft_notes`, { note: 'Hm', position }),
    await jane.put(`${url}/merge_requests/1/merge`),
    await jane.post(`${url}/repository/commits/master/comments`, { note: 'x', path: 'a.txt', line: 1 }),
    await jane.post(`${url}/statuses/master`, { state: 'success' }),
    await jane.post(`${url}/releases`, { tag_name: 'v1', ref: 'master', description: 'x' }),
  ]
  const sha = (await jane.get(`${url}/repository/commits/master`)).body.id as string
  const deployment = { environment: 'live', sha, ref: 'master', tag: false, status: 'success' }
  answers.push(await jane.post(`${url}/deployments`, deployment))
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 201, 201, 201, 201])
  await forge.settle()
  const dir = repositoryDir(forge.app, (await findProjectById(forge.app.db, project.id))!)
  return { id: project.id, dir, sha, git: (...args: string[]) => runGit([`--git-dir=${dir}`, ...args]) }
}

test('each row that names a commit which the repository lacks is told', async () => {
  await using forge = await startForge()
  const { id, git, sha } = await busyProject(forge)
  expect(await faultsOf(forge, id)).toEqual([])

  const tree = await git('mktree', '--missing')
  const other = await git('-c', 'user.name=a', '-c', 'user.email=a@x', 'commit-tree', tree, '-m', 'Other')
  for (const ref of (await git('for-each-ref', '--format=%(refname)')).split('\n')) await git('update-ref', '-d', ref)
  await git('update-ref', 'refs/heads/master', other)
  await git('repack', '-adq')
  await git('prune', '--expire=now')
  const faults = await faultsOf(forge, id)
  expect(faults).toContain(`row 1 of merge_requests names the commit ${sha} (merge_commit_sha), which is not there`)
  const reported = faults.map((fault) => /^row \d+ of (\w+) names the commit [0-9a-f]{40} \((\w+)/.exec(fault)!)
  expect(new Set(reported.map(([, table, column]) => `${table}.${column}`))).toEqual(
    new Set([
      ...['head_sha', 'base_sha', 'start_sha'].flatMap((c) => [`merge_requests.${c}`, `merge_request_versions.${c}`]),
      'merge_requests.merge_commit_sha',
      'merge_requests.squash_commit_sha',
      'notes.commit_sha',
      'notes.position',
      'notes.original_position',
      'draft_notes.position',
      'pipelines.sha',
      'deployments.sha',
      'releases.sha',
    ]),
  )
})

test('an object file that is gone is told by git and by the rows', async () => {
  await using forge = await startForge()
  const { id, dir, sha } = await busyProject(forge)
  const packs = join(dir, 'objects/pack')
  const aside = join(dir, '../aside')
  await rename(packs, aside)
  await mkdir(packs)
  for (const name of (await readdir(aside)).filter((name) => name.endsWith('.pack')))
    await promisify(execFile)('sh', ['-c', 'git unpack-objects -q < "$1"', 'sh', join(aside, name)], {
      env: { ...process.env, GIT_DIR: dir },
    })
  expect(await faultsOf(forge, id)).toEqual([])

  const file = join(dir, 'objects', sha.slice(0, 2), sha.slice(2))
  await rename(file, join(aside, 'object'))
  const faults = await faultsOf(forge, id)
  expect(faults.filter((fault) => fault.includes(sha) && !fault.startsWith('row '))).not.toEqual([])
  expect(faults).toContain(`row 1 of releases names the commit ${sha} (sha), which is not there`)
  await rename(join(aside, 'object'), file)
  expect(await faultsOf(forge, id)).toEqual([])
})

test('what rows name outlives its branch, however often the repository is tidied', async () => {
  await using forge = await startForge()
  const { id, dir, git, sha } = await busyProject(forge)
  await git('update-ref', 'refs/heads/master', await git('rev-parse', 'master~1'))
  for (const ref of ['refs/heads/feature', 'refs/tags/v1', `refs/keep-around/${sha}`, 'refs/pipelines/1'])
    await git('update-ref', '-d', ref)
  expect((await git('rev-list', '--all')).split('\n')).not.toContain(sha)
  const long = new Date(Date.now() - 30 * DAY)
  for (const name of await readdir(join(dir, 'objects'), { recursive: true }))
    await utimes(join(dir, 'objects', name), long, long)

  expect((await forge.administrator.post(`/projects/${id}/housekeeping`)).status).toBe(201)
  await forge.settle()
  expect(await faultsOf(forge, id)).toEqual([])
  expect(await git('for-each-ref', '--format=%(refname)', 'refs/keep-around')).toContain(sha)
})

test('every column that may name a commit is looked for, or left out with a reason', async () => {
  await using forge = await startForge()
  const declared = new Set(
    NAMINGS.flatMap(({ table, columns, positions }) =>
      [...columns, ...positions].map((column) => `${table}.${column}`),
    ),
  )
  const tables = await forge.app.db.introspection.getTables()
  const columns = tables.flatMap(({ name, columns }) =>
    columns.map((column) => ({ name: `${name}.${column.name}`, type: column.dataType.toLowerCase() })),
  )
  const isCommit = ({ name, type }: { name: string; type: string }) =>
    /[._](sha|oid|position)$|\.(check_head|check_target|updates|push)$|^merge_requests\.merging$/.test(name) &&
    /text|char/.test(type)
  const naming = columns.filter(isCommit).map(({ name }) => name)
  expect(naming.filter((name) => !declared.has(name) && !(name in NOT_LOOKED_FOR))).toEqual([])
  expect([...declared, ...Object.keys(NOT_LOOKED_FOR)].filter((name) => !columns.some((c) => c.name === name))).toEqual(
    [],
  )
})
