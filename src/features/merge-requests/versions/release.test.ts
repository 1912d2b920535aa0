import { expect, test } from 'vitest'
import { hoursLater, openReview } from '../../../../test/reviews.ts'
import { startForge, type TestForge } from '../../../forge.ts'

/** A private fork of Joe that changes a file twice, with one merge request. */
async function proposed(forge: TestForge) {
  const review = await openReview(forge, { a: 'a\n', b: 'first\n' })
  const { project, git } = review
  const root = await git('rev-parse', 'HEAD')
  await forge.seed(project, { b: 'second\n' })
  const joe = await forge.user()
  const fork = (await joe.post(`/projects/${project.id}/fork`)).body
  await forge.settle()
  expect((await joe.put(`/projects/${fork.id}`, { visibility: 'private' })).status).toBe(200)
  // One content is new, the other is that of an older commit.
  await forge.seed(fork, { c: 'secret\n', b: 'first\n' }, { branch: 'theirs', as: joe })
  const propose = async () => {
    const input = { source_branch: 'theirs', target_branch: 'master', title: 'Theirs', target_project_id: project.id }
    return (await joe.post(`/projects/${fork.id}/merge_requests`, input)).body as { iid: number; sha: string }
  }
  return { ...review, root, joe, fork, propose }
}

test('commits of a fork are gone for everybody as soon as their merge request is', async () => {
  await using forge = await startForge()
  const { jane, project, dir, root, joe, fork, propose } = await proposed(forge)
  const { iid, sha } = await propose()
  await forge.settle()
  const at = `/projects/${project.id}`
  const blobOf = async (path: string, of = sha) =>
    (await forge.git(['--git-dir', dir, 'rev-parse', `${of}:${path}`], { as: jane })).trim()
  const [secret, older, tree] = [await blobOf('c'), await blobOf('b', root), await blobOf('')]
  let clones = 0
  const fetches = async (id: string, version: number) => {
    const clone = `taken${++clones}`
    await forge.git(['init', '-q', clone], { as: jane })
    const web = `${forge.url}/${project.path_with_namespace}.git`
    const words = ['-C', clone, '-c', `protocol.version=${version}`, 'fetch', '-q', web, id]
    return forge.git(words, { as: jane }).then(
      () => 200,
      (error: Error) => (error.message.includes('not our ref') ? 404 : error.message),
    )
  }
  const page = async (path: string) =>
    (
      await fetch(`${forge.url}/${project.path_with_namespace}/-/${path}`, {
        headers: { 'PRIVATE-TOKEN': jane.token, accept: 'text/html' },
      })
    ).status
  const reads = async () => {
    const commit = `/repository/commits/${sha}`
    const paths = ['', '/diff', '/refs', '/comments', '/statuses'].map((part) => commit + part)
    paths.push(`/repository/commits/${sha.slice(0, 10)}`)
    paths.push(`/repository/files/c?ref=${sha}`, `/repository/files/c/raw?ref=${sha}`, `/repository/tree?ref=${sha}`)
    paths.push(`/repository/compare?from=${root}&to=${sha}`, `/repository/archive.tar.gz?sha=${sha}`)
    paths.push(`/repository/blobs/${secret}`, `/repository/blobs/${secret}/raw`, `/repository/tree?ref=${tree}`)
    const answers: [string, unknown][] = []
    for (const path of paths) answers.push([path, (await jane.get(`${at}${path}`)).status])
    // A list for an unknown ref is empty.
    const { body: listed } = await jane.get(`${at}/repository/commits?ref_name=${sha}`)
    answers.push(['list', listed.length > 0 ? 200 : 404])
    for (const path of [`commit/${sha}`, `raw/${sha}/c`, `blob/${sha}/c`]) answers.push([path, await page(path)])
    for (const id of [sha, secret])
      for (const version of [0, 2]) answers.push([`fetch ${id}`, await fetches(id, version)])
    return answers
  }
  const before = await reads()
  const readable = before.filter(([, status]) => status === 200).map(([path]) => path)
  expect(before.filter(([, status]) => status !== 200).map(([path]) => path)).toEqual([`/repository/tree?ref=${tree}`])

  // More versions than are deleted together with their row.
  const { db } = forge.app
  const { id: _, ...version } = await db.selectFrom('merge_request_versions').selectAll().executeTakeFirstOrThrow()
  await db
    .insertInto('merge_request_versions')
    .values(Array.from({ length: 150 }, () => ({ ...version, head_sha: root, start_sha: root })))
    .execute()
  expect((await jane.delete(`${at}/merge_requests/${iid}`)).status).toBe(204)
  const after = new Map(await reads())
  expect(readable.filter((path) => after.get(path) !== 404)).toEqual([])
  for (const [method, path, input] of [
    ['post', '/repository/branches', { branch: 'taken', ref: sha }],
    ['post', '/repository/tags', { tag_name: 'taken', ref: `${sha}~0` }],
    ['post', `/repository/commits/${sha}/cherry_pick`, { branch: 'master' }],
  ] as const)
    expect((await jane[method](`${at}${path}`, input)).status, path).toBeGreaterThanOrEqual(400)
  // Objects that other refs reach stay readable.
  expect((await jane.get(`${at}/repository/commits/${root}`)).status).toBe(200)
  expect((await jane.get(`${at}/repository/blobs/${older}/raw`)).body).toBe('first\n')
  expect(await fetches(root, 2)).toBe(200)

  // A new merge request makes it readable again, even if nothing was pruned meanwhile.
  await forge.seed(fork, { d: 'more\n' }, { branch: 'theirs', as: joe })
  await propose()
  await forge.settle()
  const again = new Map(await reads())
  expect(readable.filter((path) => again.get(path) !== 200)).toEqual([])
})

test('commits of a fork go with the author who is deleted with all they wrote', async () => {
  await using forge = await startForge()
  const { jane, project, joe, propose } = await proposed(forge)
  const { iid, sha } = await propose()
  await forge.settle()
  const read = async (path: string) => (await jane.get(`/projects/${project.id}${path}`)).status
  const paths = [`/merge_requests/${iid}`, `/repository/commits/${sha}`, `/repository/files/c/raw?ref=${sha}`]
  expect(await Promise.all(paths.map(read))).toEqual([200, 200, 200])
  expect((await forge.administrator.delete(`/users/${joe.id}?hard_delete=true`)).status).toBe(204)
  await forge.settle()
  expect(await Promise.all(paths.map(read))).toEqual([404, 404, 404])
})

test('commits of a fork go with the last merge request that needs them', async () => {
  await using forge = await startForge()
  const { jane, project, dir, git } = await openReview(forge, { a: 'a\n' })
  const root = await git('rev-parse', 'HEAD')
  await git('push', '-q', 'origin', 'HEAD:dev')
  const joe = await forge.user()
  const fork = (await joe.post(`/projects/${project.id}/fork`)).body
  await forge.settle()
  expect((await joe.put(`/projects/${fork.id}`, { visibility: 'private' })).status).toBe(200)
  await forge.seed(fork, { c: 'secret\n' }, { branch: 'theirs', as: joe })
  const propose = async (target_branch: string) => {
    const input = { source_branch: 'theirs', target_branch, title: 'Theirs', target_project_id: project.id }
    return (await joe.post(`/projects/${fork.id}/merge_requests`, input)).body as { iid: number; sha: string }
  }
  const [one, other] = [await propose('master'), await propose('dev')]
  // A second push: both merge requests have a version of each head.
  await forge.seed(fork, { d: 'more\n' }, { branch: 'theirs', as: joe })
  await forge.settle()
  const at = `/projects/${project.id}`
  const { body: now } = await jane.get(`${at}/merge_requests/${one.iid}`)
  let clones = 0
  const reads = async (sha: string) => {
    const paths = ['', '/diff', '/refs', '/comments'].map((part) => `/repository/commits/${sha}${part}`)
    paths.push(`/repository/files/c/raw?ref=${sha}`, `/repository/compare?from=${root}&to=${sha}`)
    const answers = await Promise.all(paths.map((path) => jane.get(`${at}${path}`)))
    // A clone without any of these objects.
    const clone = `fetched${++clones}`
    await forge.git(['init', '-q', clone], { as: jane })
    const web = `${forge.url}/${project.path_with_namespace}.git`
    const fetched = await forge.git(['-C', clone, 'fetch', '-q', web, sha], { as: jane }).then(
      () => 200,
      () => 404,
    )
    return [...new Set([...answers.map(({ status }) => status), fetched])]
  }
  const kept = () => forge.git(['--git-dir', dir, 'for-each-ref', '--format=%(refname)'], { as: jane })
  expect(now.sha).not.toBe(one.sha)

  expect((await jane.delete(`${at}/merge_requests/${one.iid}`)).status).toBe(204)
  await hoursLater(forge, dir)
  for (const sha of [one.sha, now.sha]) expect(await reads(sha)).toEqual([200])

  expect((await jane.delete(`${at}/merge_requests/${other.iid}`)).status).toBe(204)
  await hoursLater(forge, dir)
  for (const sha of [one.sha, now.sha]) expect(await reads(sha)).toEqual([404])
  expect((await kept()).trim().split('\n')).toEqual(['refs/heads/dev', 'refs/heads/master'])
  expect((await jane.get(`${at}/repository/commits/${root}`)).status).toBe(200)
  // A user who has the commits may propose them again.
  expect(await propose('master')).toMatchObject({ sha: now.sha })
  await forge.settle()
  expect(await reads(now.sha)).toEqual([200])
})
