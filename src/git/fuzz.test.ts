/**
 * Passes hostile text to every function that reads. Each function finds nothing or rejects the text, in bounded time.
 * No text becomes an option, starts a program other than git, or leaves a file on disk.
 */
import { randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { buildRepository, processesOf } from '../../test/git-builder.ts'
import { archive } from './objects/archive.ts'
import { UnsafeArgument } from './process/arguments.ts'
import { blame } from './history/blame.ts'
import { GitFailed } from './process/command.ts'
import { findCommit, findCommits, parseCommit, resolveCommit, resolveCommits } from './objects/commits.ts'
import { commitDiff, diffBetween } from './history/diffs.ts'
import {
  aheadBehind,
  countCommits,
  isAncestor,
  listAuthors,
  listCommitIds,
  listCommits,
  mergeBase,
} from './history/history.ts'
import { lastCommits } from './history/last-commits.ts'
import { objectInfo, objectInfos, openBlob, readObject, readObjects } from './objects/objects.ts'
import {
  branchExists,
  containingRefs,
  findBranch,
  findTag,
  listBranches,
  listTags,
  mergedBranches,
  resolveRef,
} from './refs/refs.ts'
import { signedCommit, signedTag } from './objects/signatures.ts'
import { commitStats, listContributors } from './history/stats.ts'
import { parseTag } from './objects/tags.ts'
import { unquote } from './objects/texts.ts'
import { entryAt, listTree, parseTree } from './objects/trees.ts'

const LIMIT_MS = 5000
const READING = 'archive blame cat-file diff-tree for-each-ref log ls-tree merge-base rev-list show-ref'.split(' ')

/** None of these names exists in the repository below. */
const hostile = (trap: string) =>
  [
    ['', ' ', '-', '--', '--all', '--stdin', '--exec=touch', `--output=${trap}`, `--upload-pack=touch ${trap}`],
    [`-o${trap}`, `|touch ${trap}`, `;touch ${trap}`, `$(touch ${trap})`, `\`touch ${trap}\``, `!touch ${trap}`],
    ['a\0b', '\0', 'master\0', 'a\nb', 'master\n', 'master\ncontents HEAD', '\r', '\x1b[2J', '\x7f', '\t'],
    ['..', '../..', '../../../../etc/passwd', '/etc/passwd', './a', 'a/../b', '.git/config', 'a/./b', '%2e%2e'],
    ['master..side', 'side...master', '^master', 'master^!', 'master^@', 'master^-1', 'master --not side'],
    ['@{-1}', '@{upstream}', 'master@{1}', 'master@{yesterday}', 'HEAD^{/x}', ':/one', ':0:a', ':a', 'HEAD:a'],
    ['HEAD^{}', 'master^{tree}', 'master~999999999', `master${'^'.repeat(900)}`, `master${'~9'.repeat(400)}`],
    [':(top)', ':(exclude)a', ':!a', ':/', ':(glob)**', '*', '**/*', '[a-z]', '?', '\\a', 'a\\'],
    ['refs/heads', 'refs/heads/', 'refs/../HEAD', 'refs/heads/*', 'refs//heads/master', 'x.lock', '.x', 'FETCH_HEAD'],
    ['config', 'objects', 'packed-refs', 'hooks/x', '\uD800', '\uFFFD', '\u202Ea', 'e\u0301', '0', '1'.repeat(40)],
    ['f'.repeat(39), 'f'.repeat(41), 'x'.repeat(300), 'x'.repeat(5000), 'x'.repeat(200_000), 'a/'.repeat(50_000)],
  ].flat()

type Call = (dir: string, value: string) => Promise<unknown>

const BY_NAME: Record<string, Call> = {
  objectInfo: (dir, name) => objectInfo(dir, name),
  objectInfoPeeled: (dir, name) => objectInfo(dir, name, { as: 'tree' }),
  objectInfos: async (dir, name) => (await objectInfos(dir, [name, name]))[1],
  readObject: (dir, name) => readObject(dir, name),
  readObjects: async (dir, name) => (await readObjects(dir, ['nowhere', name]))[1],
  openBlob: (dir, name) => openBlob(dir, name),
  resolveCommit: (dir, name) => resolveCommit(dir, name),
  resolveCommits: async (dir, name) => (await resolveCommits(dir, [name]))[0],
  findCommit: (dir, name) => findCommit(dir, name),
  findCommits: async (dir, name) => (await findCommits(dir, [name]))[0],
  listCommits: (dir, from) => listCommits(dir, { from, limit: 5 }),
  listCommitIds: (dir, name) => listCommitIds(dir, { from: ['master', name], limit: 5 }),
  listAuthors: (dir, from) => listAuthors(dir, { from, limit: 5 }),
  countCommits: (dir, from) => countCommits(dir, { from }),
  isAncestor: (dir, name) => isAncestor(dir, name, 'master'),
  isDescendant: (dir, name) => isAncestor(dir, 'master', name),
  mergeBase: (dir, name) => mergeBase(dir, ['master', name]),
  aheadBehind: (dir, name) => aheadBehind(dir, 'master', name),
  commitStats: async (dir, name) => [...(await commitStats(dir, [name]))],
  listContributors: (dir, name) => listContributors(dir, name),
  findBranch: (dir, name) => findBranch(dir, name),
  findTag: (dir, name) => findTag(dir, name),
  branchExists: (dir, name) => branchExists(dir, name),
  resolveRef: (dir, name) => resolveRef(dir, name),
  containingRefs: (dir, name) => containingRefs(dir, name),
  mergedBranches: async (dir, name) => [...(await mergedBranches(dir, name))],
  listTree: (dir, name) => listTree(dir, name, '', { recursive: true }),
  entryAt: (dir, name) => entryAt(dir, name, 'a'),
  lastCommits: (dir, name) => lastCommits(dir, name),
  commitDiff: (dir, name) => commitDiff(dir, name),
  diffFrom: (dir, name) => diffBetween(dir, name, 'master'),
  diffTo: (dir, name) => diffBetween(dir, null, name),
  blame: (dir, name) => blame(dir, name, 'a'),
  archive: (dir, name) => archive(dir, name, { format: 'tar', prefix: 'x' }),
}

/** Without `/` and repeated slashes, which mean the root. */
const BY_PATH: Record<string, Call> = {
  entryAt: (dir, path) => entryAt(dir, 'master', path),
  blame: (dir, path) => blame(dir, 'master', path),
  listCommits: (dir, path) => listCommits(dir, { path, limit: 5 }),
  listCommitsFollowing: (dir, path) => listCommits(dir, { path, follow: true, limit: 5 }),
  countCommits: (dir, path) => countCommits(dir, { path }),
}

const BY_FOLDER: Record<string, Call> = {
  listCommitsBy: (dir, author) => listCommits(dir, { author, limit: 5 }),
  listTree: (dir, path) => listTree(dir, 'master', path),
  listTreeWhole: (dir, path) => listTree(dir, 'master', path, { recursive: true }),
  lastCommits: (dir, path) => lastCommits(dir, 'master', path),
  archive: async (dir, path) => {
    const stream = await archive(dir, 'master', { format: 'tar', prefix: 'x', path })
    return stream && text(stream)
  },
  archiveWithout: async (dir, path) => {
    const stream = await archive(dir, 'master', { format: 'tar', prefix: 'x', exclude: [path] })
    return stream && text(stream)
  },
  listBranches: (dir, search) => listBranches(dir, { search, after: search }),
  listTags: (dir, search) => listTags(dir, { search, limit: 2 }),
}

const isNothing = (answer: unknown) =>
  [null, undefined, false, 0].includes(answer as null) || (Array.isArray(answer) && answer.length === 0)

function nullIfRefused(error: unknown): null {
  if (error instanceof UnsafeArgument || error instanceof GitFailed) return null
  throw error
}

async function outcome(call: Call, dir: string, value: string): Promise<{ took: number; answer: unknown }> {
  const begun = performance.now()
  const answer = await call(dir, value).catch(nullIfRefused)
  return { took: performance.now() - begun, answer }
}

/** A shared queue for several workers, which limits the number of parallel processes. */
function queueOf(values: readonly string[]) {
  const next = values.values()
  return async <T extends object>(use: (value: string) => Promise<T>) => {
    const done: (T & { value: string })[] = []
    for (const value of next) done.push({ ...(await use(value)), value })
    return done
  }
}

const traces = (root: string) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => `${name} ${statSync(join(root, name)).size} ${statSync(join(root, name)).mtimeMs}`)
    .toSorted()

const OUR_OWN = ['--stdin', 'refs/heads', '0']

/** The arguments that git could read as an option or a revision. */
const readAsOptions = (args: readonly string[]) => {
  const end = args.indexOf('--')
  const read = args.slice(1, end < 0 ? undefined : end)
  return read.filter((argument, n) => read[n - 1] !== '--author' && !OUR_OWN.includes(argument))
}

test.each([
  ['a name', BY_NAME, true],
  ['a path', BY_PATH, true],
  ['a folder or a search', BY_FOLDER, false],
] as const)(
  '%s',
  async (_what, calls, mustBeNothing) => {
    await using repo = await buildRepository(
      { message: 'one', files: { a: '1', 'd/b': '2' } },
      { message: 'side', branch: 'side', from: 'refs/heads/master', files: { c: '1' } },
      { message: 'two', files: { a: '2' } },
    )
    const values = hostile(join(repo.root, 'trap'))
    const before = traces(repo.root)
    const here = readdirSync('.')
    const started = await processesOf(async () => {
      for (const [name, call] of Object.entries(calls)) {
        const worker = queueOf(values)
        const outcomes = await Promise.all([1, 2, 3, 4].map(() => worker((value) => outcome(call, repo.dir, value))))
        for (const { value, took, answer } of outcomes.flat()) {
          const what = `${name}(${JSON.stringify(value.slice(0, 60))})`
          expect(took, what).toBeLessThan(LIMIT_MS)
          expect([what, mustBeNothing && !isNothing(answer) ? answer : null]).toEqual([what, null])
        }
      }
    })
    for (const args of started) {
      expect(args[0]).toBe('git')
      expect(READING).toContain(args[1])
      expect(readAsOptions(args).filter((argument) => values.includes(argument))).toEqual([])
    }
    expect(traces(repo.root)).toEqual(before)
    expect(readdirSync('.')).toEqual(here)
  },
  60_000,
)

test('numbers that are none', async () => {
  await using repo = await buildRepository({ files: { a: '1\n2\n' } })
  const calls: ((n: number) => Promise<unknown>)[] = [
    (n) => listCommits(repo.dir, { limit: n }),
    (n) => listCommits(repo.dir, { skip: n, limit: 1 }),
    (n) => commitDiff(repo.dir, 'master', { context: n }),
    (n) => blame(repo.dir, 'master', 'a', { start: n }),
    (n) => blame(repo.dir, 'master', 'a', { end: n }),
    (n) => listBranches(repo.dir, { skip: n, limit: n }),
    (n) => listCommits(repo.dir, { since: new Date(n), until: new Date(n), limit: 1 }),
  ]
  for (const n of [NaN, -1, 1.5, Infinity, -Infinity, 2 ** 60])
    for (const call of calls) expect((await outcome(() => call(n), repo.dir, '')).took).toBeLessThan(LIMIT_MS)
})

test('objects of random bytes', () => {
  const parsers = [
    (bytes: Buffer) => parseCommit('x', bytes),
    parseTag,
    parseTree,
    signedCommit,
    signedTag,
    (bytes: Buffer) => unquote(`"${bytes.toString('latin1')}"`),
  ]
  const seeds = [
    'tree x\nauthor <<>> 1 +\n gpgsig',
    '100644 a\0',
    '\n-----BEGIN PGP SIGNATURE-----',
    'gpgsig \n \n\n',
    '',
  ]
  const failures = Array.from({ length: 2000 }, (_, n) => {
    const bytes = Buffer.concat([Buffer.from(seeds[n % seeds.length]!), randomBytes(n % 60)])
    return parsers.map((parse) => {
      try {
        parse(bytes)
        return null
      } catch (error) {
        return error instanceof GitFailed ? null : [bytes.toString('hex'), error]
      }
    })
  })
  expect(failures.flat().filter((failure) => failure !== null)).toEqual([])
})

test('a tree that no honest client would push', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const blob = Buffer.from(await repo.git('rev-parse', 'master:a'), 'hex')
  const entries = ['..', '.git', '.', '-x', 'a/b', '\xff'].map((name) =>
    Buffer.concat([Buffer.from(`100644 ${name}\0`, 'latin1'), blob]),
  )
  const tree = await repo.write('tree', Buffer.concat(entries))
  const people = 'author A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\n'
  const commit = await repo.write('commit', `tree ${tree}\n${people}\nevil\n`)
  const broken = await repo.write('tree', 'garbage')
  const before = traces(repo.root)
  expect((await listTree(repo.dir, commit))?.map(({ name }) => name)).toEqual([
    '..',
    '.git',
    '.',
    '-x',
    'a/b',
    '\uFFFD',
  ])
  for (const call of [
    () => listTree(repo.dir, commit, '', { recursive: true }),
    () => listTree(repo.dir, broken),
    () => listTree(repo.dir, broken, '', { recursive: true }),
    () => entryAt(repo.dir, commit, '..'),
    () => blame(repo.dir, commit, '..'),
    () => blame(repo.dir, commit, '.git'),
    () => commitDiff(repo.dir, commit),
    () => lastCommits(repo.dir, commit),
    async () => text((await archive(repo.dir, commit, { format: 'tar', prefix: 'x' }))!),
  ])
    expect((await outcome(call, repo.dir, '')).took).toBeLessThan(LIMIT_MS)
  expect(traces(repo.root)).toEqual(before)
})
