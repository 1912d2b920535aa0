/** Drives a running Mortise with gitbeaker: branches, tags, commits, files and other repository reads. */
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../start/command.ts'
import { refusal, type World } from './gitbeaker-tree.ts'

const titlesOf = (commits: { title: string }[]) => commits.map(({ title }) => title)
const namesOf = (things: { name: string }[]) => things.map(({ name }) => name)
const base64 = (content: string) => Buffer.from(content).toString('base64')
/** The client returns text as text and everything else as a blob. */
const textOf = async (content: string | Blob) => (typeof content === 'string' ? content : content.text())

export interface Code {
  readonly id: number
  readonly first: string
  readonly second: string
}

async function filesOf({ api }: World, id: number, ref: string): Promise<Record<string, string>> {
  const entries = await api.Repositories.allRepositoryTrees(id, { ref, recursive: true, perPage: 2 })
  return Object.fromEntries(entries.filter(({ type }) => type === 'blob').map(({ path, mode }) => [path, mode]))
}

export async function makeCommits(world: World): Promise<Code> {
  const { api } = world
  const { id, empty_repo } = await api.Projects.create({ name: 'Gb Code', visibility: 'public' })
  expect([empty_repo, await api.Commits.all(id), await api.Branches.all(id)]).toEqual([true, [], []])
  const jane = { authorName: 'Jane Doe', authorEmail: 'jane@example.com' }
  const created = await api.Commits.create(
    id,
    'master',
    'First\n\nReviewed-by: John\n',
    [
      { action: 'create', filePath: 'README.md', content: '# Code\n' },
      { action: 'create', filePath: 'src/main.c', content: 'int main() {\n  return 0;\n}\n' },
      { action: 'create', filePath: 'bin/run', content: base64('#!/bin/sh\n'), encoding: 'base64' },
      { action: 'create', filePath: 'old.txt', content: 'old\n' },
    ],
    jane,
  )
  expect(created).toMatchObject({
    title: 'First',
    author_name: 'Jane Doe',
    author_email: 'jane@example.com',
    parent_ids: [],
    stats: { additions: 6, deletions: 0, total: 6 },
    status: null,
    last_pipeline: null,
  })
  const second = await api.Commits.create(id, 'master', 'Second', [
    { action: 'update', filePath: 'README.md', content: '# Code\n\nMore.\n', lastCommitId: created.id },
    { action: 'move', filePath: 'lib/main.c', previousPath: 'src/main.c' },
    { action: 'delete', filePath: 'old.txt' },
    { action: 'chmod', filePath: 'bin/run', execute_filemode: true },
  ])
  expect(await filesOf(world, id, 'master')).toEqual({
    'README.md': '100644',
    'bin/run': '100755',
    'lib/main.c': '100644',
  })
  const twice = api.Commits.create(id, 'master', 'No', [{ action: 'create', filePath: 'README.md', content: 'x' }])
  await expect(twice).rejects.toMatchObject(refusal(400, 'A file with this name already exists'))
  await api.Commits.create(id, 'topic', 'On a branch', [{ action: 'create', filePath: 'topic.txt', content: '1\n' }], {
    startBranch: 'master',
  })
  await api.Commits.create(id, 'past', 'At a commit', [{ action: 'create', filePath: 'past.txt', content: '1\n' }], {
    startSha: created.id,
  })
  expect((await api.Branches.show(id, 'past')).commit.parent_ids).toEqual([created.id])
  return { id, first: created.id, second: second.id }
}

export async function readCommits({ api }: World, { id, first, second }: Code): Promise<void> {
  const { Commits } = api
  expect(titlesOf(await Commits.all(id, { perPage: 1 }))).toEqual(['Second', 'First'])
  for (const [filter, expected] of [
    [{ refName: 'topic' }, ['On a branch', 'Second', 'First']],
    [{ refName: `${first}..topic` }, ['On a branch', 'Second']],
    [{ path: 'lib/main.c' }, ['Second', 'First']],
    [{ author: 'JANE' }, ['First']],
    [{ all: true, path: 'past.txt' }, ['At a commit']],
    [{ since: '2999-01-01T00:00:00Z' }, []],
    [{ until: '2001-01-01T00:00:00Z' }, []],
    [{ firstParent: true, order: 'topo' }, ['Second', 'First']],
  ] as const) {
    expect(titlesOf(await Commits.all(id, filter)), JSON.stringify(filter)).toEqual(expected)
  }
  const [rich] = await Commits.all(id, { refName: first, withStats: true, trailers: true })
  expect(rich).toMatchObject({ stats: { total: 6 }, trailers: { 'Reviewed-by': 'John' } })
  const { data, paginationInfo } = await Commits.all(id, { page: 2, perPage: 1, maxPages: 1, showExpanded: true })
  expect([titlesOf(data), paginationInfo]).toMatchObject([['First'], { current: 2, next: null, previous: 1 }])

  expect(await Commits.show(id, 'topic', { stats: false })).not.toHaveProperty('stats')
  expect(await Commits.show(id, first.slice(0, 10))).toMatchObject({ id: first, stats: { additions: 6 } })
  await expect(Commits.show(id, 'nothing')).rejects.toMatchObject(refusal(404, '404 Commit Not Found'))
  const diff = await Commits.showDiff(id, second, { perPage: 2 })
  expect(diff.map(({ new_path, diff }) => [new_path, diff])).toEqual([
    ['README.md', '--- a/README.md\n+++ b/README.md\n@@ -1 +1,3 @@\n # Code\n+\n+More.\n'],
    ['bin/run', ''],
    ['lib/main.c', ''],
    ['old.txt', '--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n'],
  ])
  expect(diff[1]).toMatchObject({ a_mode: '100644', b_mode: '100755' })
  expect(diff[2]).toMatchObject({ old_path: 'src/main.c', renamed_file: true })
  expect(diff[3]).toMatchObject({ deleted_file: true })
  expect(await Commits.showSequence(id, 'topic')).toEqual({ count: 3 })
}

export async function judgeCommits({ api }: World, { id, second }: Code): Promise<void> {
  const { Commits } = api
  await Commits.createComment(id, second, 'Nice')
  const anchor = { path: 'README.md', line: 3, lineType: 'new' }
  expect(await Commits.createComment(id, second, 'Why?', anchor)).toMatchObject({
    note: 'Why?',
    line: 3,
    line_type: 'new',
  })
  const comments = await Commits.allComments(id, second)
  expect(comments.map(({ note, author }) => [note, author.username])).toEqual([
    ['Nice', 'root'],
    ['Why?', 'root'],
  ])

  const input = { ref: 'master', name: 'build', targetUrl: 'https://ci.example/1', description: 'well', coverage: 81.5 }
  expect(await Commits.editStatus(id, second, 'running', input)).toMatchObject({
    sha: second,
    status: 'running',
    name: 'build',
    target_url: 'https://ci.example/1',
    description: 'well',
    coverage: 81.5,
  })
  await Commits.editStatus(id, second, 'success', input)
  expect(await Commits.allStatuses(id, second, { ref: 'master' })).toMatchObject([{ name: 'build', status: 'success' }])
  expect(await Commits.show(id, second)).toMatchObject({ status: 'success' })

  await api.Tags.create(id, 'v0', second)
  expect(await Commits.allReferences(id, second)).toEqual([
    { type: 'branch', name: 'master' },
    { type: 'branch', name: 'topic' },
    { type: 'tag', name: 'v0' },
  ])
  expect(await Commits.allReferences(id, second, { type: 'tag' })).toEqual([{ type: 'tag', name: 'v0' }])
  expect(await Commits.allMergeRequests(id, second)).toEqual([])
  await expect(Commits.showGPGSignature(id, second)).rejects.toMatchObject(refusal(404, '404 Signature Not Found'))
}

export async function pickCommits(world: World, { id }: Code): Promise<void> {
  const { Commits } = world.api
  const topic = await Commits.show(id, 'topic')
  expect(await Commits.cherryPick(id, topic.id, 'past', { dryRun: true })).toEqual({ dry_run: 'success' })
  const picked = await Commits.cherryPick(id, topic.id, 'past')
  expect(picked.message).toBe(`On a branch\n\n(cherry picked from commit ${topic.id})`)
  expect(Object.keys(await filesOf(world, id, 'past'))).toContain('topic.txt')
  expect(await Commits.revert(id, picked.id, 'past', { dryRun: true })).toEqual({ dry_run: 'success' })
  const undone = await Commits.revert(id, picked.id, 'past')
  expect(undone.message).toBe(`Revert "On a branch"\n\nThis reverts commit ${picked.id}`)
  expect(Object.keys(await filesOf(world, id, 'past'))).not.toContain('topic.txt')
  await expect(Commits.revert(id, picked.id, 'past')).rejects.toMatchObject(refusal(400, 'revert'))
}

export async function changeBranches({ api }: World, { id, second }: Code): Promise<void> {
  const { Branches } = api
  expect(await Branches.create(id, 'feature/saw.json', 'master')).toMatchObject({
    name: 'feature/saw.json',
    protected: false,
    default: false,
    can_push: true,
    commit: { id: second },
  })
  expect(await Branches.show(id, 'feature/saw.json')).toMatchObject({ commit: { id: second }, merged: false })
  expect(await Branches.show(id, 'master')).toMatchObject({ default: true, protected: true })
  expect(namesOf(await Branches.all(id, { perPage: 1 }))).toEqual(['feature/saw.json', 'master', 'past', 'topic'])
  expect(namesOf(await Branches.all(id, { search: '^fea' }))).toEqual(['feature/saw.json'])
  expect(namesOf(await Branches.all(id, { regex: '^.as' }))).toEqual(['master', 'past'])
  expect(namesOf(await Branches.all(id, { pagination: 'keyset', perPage: 2 }))).toHaveLength(4)
  await expect(Branches.create(id, 'past', 'master')).rejects.toMatchObject(refusal(400, 'Branch already exists'))
  await Branches.remove(id, 'feature/saw.json')
  await expect(Branches.show(id, 'feature/saw.json')).rejects.toMatchObject(refusal(404, '404 Branch Not Found'))
  await Branches.create(id, 'merged', 'master~1')
  expect(await Branches.show(id, 'merged')).toMatchObject({ merged: true })
  await Branches.removeMerged(id)
  await until(async () => !namesOf(await Branches.all(id)).includes('merged'))
  expect(namesOf(await Branches.all(id))).toEqual(['master', 'past', 'topic'])
}

export async function changeTags({ api }: World, { id, first, second }: Code): Promise<void> {
  const { Tags } = api
  expect(await Tags.create(id, 'v1.0', first)).toMatchObject({ message: null, target: first, release: null })
  const heavy = await Tags.create(id, 'rel/1.1', 'master', { message: 'The saw' })
  expect(heavy).toMatchObject({ message: 'The saw', commit: { id: second }, protected: false })
  expect(heavy.target).not.toBe(second)
  expect(await Tags.show(id, 'rel/1.1')).toEqual(heavy)
  expect(namesOf(await Tags.all(id, { orderBy: 'name', sort: 'asc', perPage: 2 }))).toEqual(['rel/1.1', 'v0', 'v1.0'])
  expect(namesOf(await Tags.all(id, { orderBy: 'version', sort: 'desc', search: '^v' }))).toEqual(['v1.0', 'v0'])
  await expect(Tags.create(id, 'v0', 'master')).rejects.toMatchObject(refusal(400, 'Tag v0 already exists'))
  await expect(Tags.showSignature(id, 'rel/1.1')).rejects.toMatchObject(refusal(404, '404 Signature Not Found'))
  await Tags.remove(id, 'v1.0')
  await expect(Tags.show(id, 'v1.0')).rejects.toMatchObject(refusal(404, '404 Tag Not Found'))
}

export async function changeFiles({ api }: World, { id }: Code): Promise<void> {
  const { RepositoryFiles } = api
  const path = 'docs/näh maschine.txt'
  const author = { authorName: 'Jane Doe', authorEmail: 'jane@example.com' }
  const input = { encoding: 'base64', executeFilemode: true, startBranch: 'topic', ...author }
  const made = await RepositoryFiles.create(id, path, 'paper', base64('eins\nzwei\n'), 'Add a file', input)
  expect(made).toEqual({ file_path: path, branch: 'paper' })
  const file = await RepositoryFiles.show(id, path, 'paper')
  expect(Buffer.from(file.content, 'base64').toString()).toBe('eins\nzwei\n')
  expect(file).toMatchObject({ file_name: 'näh maschine.txt', size: 10, encoding: 'base64', execute_filemode: true })
  const { last_commit_id: lastCommitId } = file
  await RepositoryFiles.edit(id, path, 'paper', 'eins\ndrei\n', 'Change a file', { lastCommitId })
  expect(await textOf(await RepositoryFiles.showRaw(id, path, 'paper'))).toBe('eins\ndrei\n')
  const stale = RepositoryFiles.edit(id, path, 'paper', 'x', 'x', { lastCommitId })
  await expect(stale).rejects.toMatchObject(refusal(400, 'has changed since you started editing it'))
  const blamed = async (range?: { start: number; end: number }) =>
    (await RepositoryFiles.allFileBlames(id, path, 'paper', range && { range })).map(({ commit, lines }) => [
      commit.message,
      lines,
    ])
  expect(await blamed()).toEqual([
    ['Add a file', ['eins']],
    ['Change a file', ['drei']],
  ])
  expect(await blamed({ start: 2, end: 2 })).toEqual([['Change a file', ['drei']]])
  await RepositoryFiles.remove(id, path, 'paper', 'Remove a file')
  await expect(RepositoryFiles.show(id, path, 'paper')).rejects.toMatchObject(refusal(404, '404 File Not Found'))
}

export async function readTrees({ api }: World, { id }: Code): Promise<void> {
  const { Repositories } = api
  const tree = async (input: object) =>
    (await Repositories.allRepositoryTrees(id, input)).map(({ type, path }) => `${type} ${path}`)
  expect(await tree({})).toEqual(['tree bin', 'tree lib', 'blob README.md'])
  expect(await tree({ path: 'lib', ref: 'master' })).toEqual(['blob lib/main.c'])
  const everything = ['tree bin', 'tree lib', 'blob README.md', 'blob bin/run', 'blob lib/main.c']
  expect(await tree({ recursive: true, perPage: 2 })).toEqual(everything)
  expect(await tree({ recursive: true, perPage: 2, pagination: 'keyset' })).toEqual(everything)

  const [run] = await Repositories.allRepositoryTrees(id, { path: 'bin' })
  expect(await Repositories.showBlob(id, run!.id)).toEqual({
    size: 10,
    encoding: 'base64',
    content: base64('#!/bin/sh\n'),
    sha: run!.id,
  })
  expect(await textOf(await Repositories.showBlobRaw(id, run!.id))).toBe('#!/bin/sh\n')
}

export async function unpackArchives({ api }: World, { id, second }: Code, folder: string): Promise<void> {
  const file = join(folder, 'archive')
  const listed = async (fileType: string, input: object = {}) => {
    const archive = await api.Repositories.showArchive(id, { fileType: fileType as 'zip', ...input })
    await writeFile(file, Buffer.from(await archive.arrayBuffer()))
    const [program, ...args] = fileType === 'zip' ? ['unzip', '-Z1', file] : ['tar', '--list', '--file', file]
    const names = execFileSync(program!, args, { encoding: 'utf8' }).trim().split('\n')
    return names.filter((name) => !name.endsWith('/')).toSorted()
  }
  const top = `gb-code-master-${second}`
  for (const type of ['tar.gz', 'tar.bz2', 'tbz', 'tbz2', 'tb2', 'bz2', 'tar', 'zip']) {
    expect(await listed(type), type).toEqual([`${top}/README.md`, `${top}/bin/run`, `${top}/lib/main.c`])
  }
  expect(await listed('tar', { sha: 'past' })).toContainEqual(expect.stringMatching(/^gb-code-past-.*\/past\.txt$/))
  expect(await listed('zip', { path: 'bin' })).toEqual([expect.stringMatching(/\/bin\/run$/)])
  const stream = await api.Repositories.showArchive(id, { fileType: 'tar', asStream: true })
  await writeFile(file, stream)
  expect(execFileSync('tar', ['-xOf', file, `${top}/bin/run`], { encoding: 'utf8' })).toBe('#!/bin/sh\n')
}

export async function compareRefs({ api }: World, { id, first, second }: Code): Promise<void> {
  const { Repositories } = api
  const seen = await Repositories.compare(id, first, 'topic')
  expect(seen).toMatchObject({
    commit: { title: 'On a branch' },
    commits: [{ title: 'Second' }, { title: 'On a branch' }],
    diffs: ['README.md', 'bin/run', 'lib/main.c', 'old.txt', 'topic.txt'].map((path) => ({ new_path: path })),
    compare_timeout: false,
    compare_same_ref: false,
  })
  const straight = await Repositories.compare(id, 'topic', 'master', { straight: true })
  expect(straight.diffs).toMatchObject([{ new_path: 'topic.txt', deleted_file: true }])
  expect(await Repositories.mergeBase(id, ['master', 'topic'])).toMatchObject({ id: second })
  expect(await Repositories.mergeBase(id, ['master', 'topic', 'past'])).toMatchObject({ id: first })
  const people = await Repositories.allContributors(id, { orderBy: 'email', sort: 'desc' })
  expect(people.map(({ email, commits }) => [email, commits])).toEqual([
    ['jane@example.com', 1],
    [expect.stringContaining('@'), 1],
  ])
}
