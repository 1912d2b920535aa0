import { expect, test } from 'vitest'
import { runGit } from '../../../../test/git-origin.ts'
import { openProposals } from '../../../../test/proposals.ts'
import { numbered, openReview } from '../../../../test/reviews.ts'
import { startForge, type Person } from '../../../forge.ts'
import { forget } from '../../../git/objects/memory.ts'
import { closeReaders } from '../../../git/process/readers.ts'

const gone = async (dir: string) => {
  // Prunes all unreachable objects at once, and closes cached readers.
  await runGit([`--git-dir=${dir}`, 'gc', '--quiet', '--prune=now'])
  await runGit([`--git-dir=${dir}`, 'repack', '-adq'])
  closeReaders(dir)
  forget(dir)
}

test('a merge request tells its commits, changes and versions', async () => {
  await using forge = await startForge()
  const { jane, project, git, commit, propose } = await openReview(forge, { 'a.txt': numbered(20), old: 'moved\n' })
  const start = await git('rev-parse', 'HEAD')
  await git('checkout', '-q', '-b', 'feature')
  const first = await commit('a.txt', numbered(20, { 3: 'changed' }), 'First\n\nMore words.')
  await git('mv', 'old', 'new')
  const second = await commit('b.txt', 'b\n', 'Second')
  await git('push', '-q', 'origin', 'feature')
  const { url, id } = await propose('feature')

  const commits = await jane.get(`${url}/commits`)
  expect(commits.body.map((one: { id: string }) => one.id)).toEqual([second, first])
  expect(commits.body[1]).toMatchObject({
    short_id: first.slice(0, 8),
    title: 'First',
    message: 'First\n\nMore words.\n',
    author_name: jane.username,
    author_email: jane.email,
    parent_ids: [start],
  })
  expect(commits.headers.get('x-total')).toBe('2')
  expect((await jane.get(`${url}/commits`, { per_page: 1, page: 2 })).body).toMatchObject([{ id: first }])

  const file = { new_file: false, renamed_file: false, deleted_file: false, a_mode: '100644', b_mode: '100644' }
  const hunk = '@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+changed\n line 4\n line 5\n line 6\n'
  const texts = { a: `--- a/a.txt\n+++ b/a.txt\n${hunk}`, b: '--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n' }
  const expected = [
    { ...file, old_path: 'a.txt', new_path: 'a.txt', diff: texts.a },
    { ...file, old_path: 'b.txt', new_path: 'b.txt', diff: texts.b, new_file: true, a_mode: '0' },
    { ...file, old_path: 'old', new_path: 'new', diff: '', renamed_file: true },
  ]
  const changes = await jane.get(`${url}/changes`)
  expect(changes.body).toMatchObject({ id, sha: second, changes_count: '3', overflow: false, changes: expected })
  expect((await jane.get(`${url}/changes`, { unidiff: false })).body.changes[0].diff).toBe(hunk)

  const diffs = await jane.get(`${url}/diffs`, { per_page: 1, page: 2 })
  expect(diffs.body).toMatchObject([{ ...expected[1], diff: '@@ -0,0 +1 @@\n+b\n' }])
  expect(diffs.headers.get('x-total')).toBe('3')
  expect((await jane.get(`${url}/diffs`, { unidiff: true })).body).toMatchObject(expected)

  const raw = await jane.get(`${url}/raw_diffs`)
  expect(raw.headers.get('content-type')).toBe('text/plain')
  expect(raw.body.trimEnd()).toBe(await git('diff', '--full-index', '-M', start, second))

  const versions = await jane.get(`${url}/versions`)
  const version = {
    merge_request_id: id,
    head_commit_sha: second,
    base_commit_sha: start,
    start_commit_sha: start,
    state: 'collected',
    real_size: '3',
  }
  expect(versions.body).toMatchObject([version])
  const one = await jane.get(`${url}/versions/${versions.body[0].id}`)
  expect(one.body).toMatchObject({ ...version, commits: [{ id: second }, { id: first }], diffs: expected })
  expect((await jane.get(`${url}/versions/${versions.body[0].id + 1}`)).body).toEqual({ message: '404 Not found' })
  expect(project.id).toBe(changes.body.project_id)
})

test('a list of versions costs the same however many there are', async () => {
  await using forge = await startForge()
  const { jane, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '-b', 'feature')
  await commit('b', 'b\n')
  await git('push', '-q', 'origin', 'feature')
  const { url } = await propose('feature')
  const asked = () => forge.queries(() => jane.get(`${url}/versions`))
  await asked()
  const one = await asked()
  for (let n = 0; n < 3; n++) {
    await commit('b', `b${n}\n`)
    await git('push', '-q', 'origin', 'feature')
  }
  await forge.settle()
  expect((await jane.get(`${url}/versions`)).body).toHaveLength(4)
  expect(await asked()).toBe(one)
})

test('without commits there is an empty version, and nothing to show', async () => {
  await using forge = await startForge()
  const { jane, git, propose } = await openReview(forge, { a: 'a\n' })
  await git('push', '-q', 'origin', 'HEAD:refs/heads/same')
  const { url } = await propose('same')
  expect((await jane.get(`${url}/versions`)).body).toMatchObject([{ state: 'empty', real_size: null }])
  expect((await jane.get(`${url}/commits`)).body).toEqual([])
  expect((await jane.get(`${url}/changes`)).body).toMatchObject({ changes: [], overflow: false, changes_count: null })
  expect((await jane.get(`${url}/raw_diffs`)).body).toBe('')
})

test('of a target that is not there, or shares no commit, nothing is told', async () => {
  await using forge = await startForge()
  const { jane, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '--orphan', 'island')
  await commit('b', 'b\n')
  await git('push', '-q', 'origin', 'island')
  const { url } = await propose('island')
  const expectNoEvents = async () => {
    expect((await jane.get(`${url}/commits`)).body).toEqual([])
    expect((await jane.get(`${url}/diffs`)).body).toEqual([])
    const versions = (await jane.get(`${url}/versions`)).body as object[]
    for (const version of versions) expect(version).toMatchObject({ state: 'empty', base_commit_sha: null })
    expect(versions).not.toEqual([])
  }
  await expectNoEvents()
  expect((await jane.put(url, { target_branch: 'nowhere' })).status).toBe(200)
  await expectNoEvents()
})

test('commits that came over from the target are none of its own', async () => {
  await using forge = await startForge()
  const { jane, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '-b', 'feature')
  const own = await commit('b', 'b\n')
  await git('checkout', '-q', 'master')
  await commit('c', 'c\n')
  await git('push', '-q', 'origin', 'master')
  await git('checkout', '-q', 'feature')
  await git('merge', '-q', '--no-edit', 'master')
  const merge = await git('rev-parse', 'HEAD')
  await git('push', '-q', 'origin', 'feature')
  const { url } = await propose('feature')
  const ids = (await jane.get(`${url}/commits`)).body.map(({ id }: { id: string }) => id)
  expect(ids).toEqual([merge, own])
  expect((await jane.get(`${url}/diffs`)).body).toMatchObject([{ new_path: 'b' }])
})

test('what was there stays readable: force pushes, deleted branches, a removed fork, garbage collection', async () => {
  await using forge = await startForge()
  const { jane, project, dir, git, commit, propose } = await openReview(forge, { a: numbered(9) })
  const root = await git('rev-parse', 'HEAD')
  // The target loses the commit that the first version starts from.
  const lost = await commit('a', numbered(9, { 9: 'lost' }))
  await git('push', '-q', 'origin', 'master')
  await git('checkout', '-q', '-b', 'feature')
  const first = await commit('b', 'first\n')
  await git('push', '-q', 'origin', 'feature')
  const mine = await propose('feature')
  await git('reset', '-q', '--hard', root)
  const second = await commit('b', 'second\n')
  await git('push', '-q', '-f', 'origin', 'feature')
  await jane.delete(`/projects/${project.id}/protected_branches/master`)
  await git('push', '-q', '-f', 'origin', `${root}:master`)
  await git('push', '-q', 'origin', ':feature')

  // A fork of a stranger proposes commits and is then deleted.
  const joe = await forge.user()
  const fork = (await joe.post(`/projects/${project.id}/fork`)).body
  await forge.settle()
  await forge.seed(fork, { c: 'c\n' }, { branch: 'theirs', as: joe })
  const input = { source_branch: 'theirs', target_branch: 'master', title: 'Theirs', target_project_id: project.id }
  const theirs = (await joe.post(`/projects/${fork.id}/merge_requests`, input)).body
  expect(theirs.iid).toBe(2)
  await joe.delete(`/projects/${fork.id}`)
  await forge.settle()
  await gone(dir)

  const versions = (await jane.get(`${mine.url}/versions`)).body as { id: number; head_commit_sha: string }[]
  expect(versions).toMatchObject([
    { head_commit_sha: second, base_commit_sha: root, start_commit_sha: root },
    { head_commit_sha: second, base_commit_sha: root, start_commit_sha: lost },
    { head_commit_sha: first, base_commit_sha: lost, start_commit_sha: lost },
  ])
  for (const [n, text, sha] of [
    [0, 'second', second],
    [1, 'second', second],
    [2, 'first', first],
  ] as const) {
    const { body } = await jane.get(`${mine.url}/versions/${versions[n]!.id}`)
    expect(body).toMatchObject({ state: 'collected', real_size: '1', commits: [{ id: sha }] })
    expect(body.diffs).toMatchObject([{ new_path: 'b', diff: `--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+${text}\n` }])
  }
  expect((await jane.get(`${mine.url}/changes`)).body.changes).toHaveLength(1)
  const { url } = { url: `/projects/${project.id}/merge_requests/2` }
  expect((await jane.get(`${url}/changes`)).body).toMatchObject({
    source_project_id: null,
    changes: [{ new_path: 'c' }],
  })
  expect((await jane.get(`${url}/commits`)).body).toMatchObject([{ id: theirs.sha }])
  expect((await jane.get(`${url}/raw_diffs`)).body).toContain('+c\n')
})

test('a merged request shows what it brought', async () => {
  await using forge = await startForge()
  const { jane, dir, git, commit, propose } = await openReview(forge, { a: 'a\n' })
  await git('checkout', '-q', '-b', 'feature')
  const [one, two] = [await commit('b', 'b\n'), await commit('c', 'c\n')]
  await git('push', '-q', 'origin', 'feature')
  const { url } = await propose('feature')
  const before = (await jane.get(`${url}/versions`)).body
  expect((await jane.put(`${url}/merge`, { should_remove_source_branch: true })).status).toBe(200)
  await forge.settle()
  await gone(dir)
  expect((await jane.get(`${url}/versions`)).body).toEqual(before)
  expect((await jane.get(`${url}/commits`)).body).toMatchObject([{ id: two }, { id: one }])
  expect((await jane.get(`${url}/changes`)).body).toMatchObject({
    state: 'merged',
    changes: [{ new_path: 'b' }, { new_path: 'c' }],
  })
})

test('an author without access to code sees the merge request without its changes', async () => {
  await using forge = await startForge()
  const [owner, author] = [await forge.user(), await forge.user()]
  const { at, url, propose, member, push } = await openProposals(forge, owner, { visibility: 'private' })
  const reporter = await member(20)
  await owner.post(`${at}/members`, { user_id: author.id, access_level: 30 })
  const one = await propose('Mine', {}, author)
  const { diff_refs } = (await author.get(one.url)).body
  const [{ id: version }] = (await author.get(`${one.url}/versions`)).body
  const place = { position_type: 'text', new_path: 'branch-1.txt', old_path: 'branch-1.txt', new_line: 1 }
  const quoting = { body: '```suggestion\nx\n```', position: { ...diff_refs, ...place } }
  const answer = await author.post(`${one.url}/discussions`, quoting)
  const [{ id: suggestion }] = answer.body.notes[0].suggestions
  const doors = [
    '/commits',
    '/changes',
    '/diffs',
    '/raw_diffs',
    '/versions',
    `/versions/${version}`,
    `/versions/compare?from=${version}&to=${version}`,
    '/merge_ref',
  ]
  const open = (person: Person) =>
    Promise.all(doors.map(async (door) => [door, (await person.get(one.url + door)).status]))
  expect(await open(author)).toEqual(doors.map((door) => [door, 200]))

  expect((await owner.put(`${at}/members/${author.id}`, { access_level: 10 })).status).toBe(200)
  await push('branch-1')
  expect((await author.get(`${at}/repository/tree`)).status).toBe(403)
  expect(await open(author)).toEqual(doors.map((door) => [door, 403]))
  expect(await open(reporter)).toEqual(doors.map((door) => [door, 200]))
  expect(await author.get(`${url}/${one.iid}`)).toMatchObject({ status: 200, body: { title: 'Mine' } })
  const quoted = await author.post(`${one.url}/discussions`, quoting)
  expect(quoted.status).toBe(201)
  const threads = await author.get(`${one.url}/discussions`)
  expect(JSON.stringify([quoted.body, threads.body])).not.toContain('from_content')
  expect(JSON.stringify((await reporter.get(`${one.url}/discussions`)).body)).toContain('from_content')
  expect((await author.put(`/suggestions/${suggestion}/apply`)).status).toBe(404)
})
