/** Compares answers from memory with git's own, over random histories that grow push by push. */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildRepository, processesOf, type BuiltRepository } from '../../../test/git-builder.ts'
import { runGit } from '../../../test/git-origin.ts'
import { blame } from './blame.ts'
import { ancestryOf } from './graph.ts'
import {
  aheadBehind,
  countCommits,
  isAncestor,
  lastCommitOf,
  listCommitIds,
  listHistory,
  mergeBase,
  pushedCommits,
} from './history.ts'
import type { HistoryOptions } from './walks.ts'

type Random = (below: number) => number

function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return (state >>> 16) % below
  }
}

const PATHS = ['a', 'd/a', 'd/e/a', 'd/e/b', 'é "x"\t.md', ':(top)']
const START = 1_700_000_000

/**
 * Commits with marks that continue from run to run: branches, merges of up to four parents, equal dates and wrong
 * clocks.
 */
class Story {
  readonly #repo: BuiltRepository
  readonly #random: Random
  readonly marks: number[] = []

  constructor(repo: BuiltRepository, random: Random) {
    this.#repo = repo
    this.#random = random
  }

  async grow(commits: number): Promise<void> {
    const script = Array.from({ length: commits }, () => this.#commit()).join('')
    const marks = join(this.#repo.root, 'marks')
    const args = ['fast-import', '--quiet', '--force', `--export-marks=${marks}`, `--import-marks-if-exists=${marks}`]
    await runGit([`--git-dir=${this.#repo.dir}`, ...args], Buffer.from(script))
  }

  #commit(): string {
    const random = this.#random
    const mark = this.marks.length + 1
    const recent = () => this.marks[Math.max(0, this.marks.length - 1 - random(random(4) === 0 ? 30 : 3))]!
    const isRoot = mark === 1 || random(40) === 0
    const parents = isRoot ? [] : [...new Set(Array.from({ length: [1, 1, 1, 2, 2, 4][random(6)]! }, recent))]
    const date = START + (random(3) === 0 ? random(200) : mark * 2 + random(3))
    const message = `commit ${mark}\n`
    this.marks.push(mark)
    return [
      `commit refs/heads/b${mark}\nmark :${mark}\n`,
      `author ${['Ada', 'Bob'][random(2)]} <x@example.com> ${date} +0000\ncommitter Cy <cy@example.com> ${date} +0100\n`,
      `data ${message.length}\n${message}`,
      ...parents.map((parent, n) => `${n === 0 ? 'from' : 'merge'} :${parent}\n`),
      ...Array.from({ length: random(4) }, () => this.#change()),
      '\n',
    ].join('')
  }

  #change(): string {
    const random = this.#random
    const path = PATHS[random(PATHS.length)]!
    const name = `"${Array.from(Buffer.from(path), (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('')}"`
    const text = `${'The same words.\n'.repeat(20)}${random(3)}\n`
    const write = (mode: string) => `M ${mode} inline ${name}\ndata ${text.length}\n${text}\n`
    const kinds = [
      () => `D ${name}\n`,
      () => `M 160000 ${'1'.repeat(40)} ${name}\n`,
      () => write('120000'),
      () => write('100755'),
      () => `M 100644 inline ${name}\ndata 3\n\0\x01${random(3)}\n`,
    ]
    return (kinds[random(12)] ?? (() => write('100644')))()
  }
}

const at = (seconds: number) => new Date((START + seconds) * 1000)

const WISHES: readonly [HistoryOptions, ...string[]][] = [
  [{}],
  [{ firstParent: true }, '--first-parent'],
  [{ noMerges: true }, '--no-merges'],
  [{ since: at(60) }, `--since=@${START + 60} +0000`],
  [{ until: at(100) }, `--until=@${START + 100} +0000`],
  [
    { since: at(20), until: at(150), firstParent: true },
    '--first-parent',
    `--since=@${START + 20}`,
    `--until=@${START + 150}`,
  ],
  [{ order: 'topo' }, '--topo-order'],
  [{ author: 'bOB' }, '--author=bob', '-i'],
]

test.each([1, 2])('commits come in the order of git, with its totals (%s)', async (seed) => {
  await using repo = await buildRepository()
  const random = randomFrom(seed)
  const story = new Story(repo, random)
  for (const growth of [40, 1, 2, 1, 10]) {
    await story.grow(growth)
    const newest = story.marks.at(-1)!
    for (const tip of [`b${newest}`, `b${1 + random(newest)}`]) {
      for (const [input, ...args] of WISHES) {
        const all = linesOf(await repo.git('log', '--format=%H', ...args, tip))
        const skip = random(all.length + 2)
        const { commits, total } = await listHistory(repo.dir, { from: tip, ...input }, { skip, limit: 20 })
        const expected = {
          ids: commits.map(({ id }) => id),
          total,
          count: await countCommits(repo.dir, { from: tip, ...input }),
        }
        expect(expected, `${tip} ${args}`).toEqual({
          ids: all.slice(skip, skip + 20),
          total: all.length,
          count: all.length,
        })
      }
    }
    const merged = linesOf(
      await repo.git('for-each-ref', '--format=%(objectname)', `--merged=b${newest}`, 'refs/heads'),
    )
    const every = linesOf(await repo.git('for-each-ref', '--format=%(objectname)', 'refs/heads'))
    const leads = (await ancestryOf(repo.dir, await repo.git('rev-parse', `b${newest}`)))!
    expect(every.filter(leads)).toEqual(merged)
  }
})

const RANGES: readonly [HistoryOptions, ...string[]][] = [
  [{}],
  [{ firstParent: true }, '--first-parent'],
  [{ noMerges: true }, '--no-merges'],
]

test.each([6, 7])('what two commits have apart and in common is what git says (%s)', async (seed) => {
  await using repo = await buildRepository()
  const { dir } = repo
  const random = randomFrom(seed)
  const story = new Story(repo, random)
  for (const growth of [60, 3, 20]) {
    await story.grow(growth)
    const newest = story.marks.length
    for (let pair = 0; pair < 5; pair++) {
      const [a, b, c] = Array.from({ length: 3 }, () => `b${newest - random(pair % 2 === 0 ? 12 : newest)}`)
      const about = `${a} ${b}`
      const leading = new Set(linesOf(await repo.git('rev-list', a!)))
      // With wrong clocks, git stops too early to see that some commits are ancestors of the excluded ones.
      const apart = async (...args: string[]) =>
        linesOf(await repo.git('log', '--format=%H', ...args, `^${a}`)).filter((id) => !leading.has(id))
      for (const [input, ...args] of RANGES) {
        const range = { ...input, from: b!, not: [a!] }
        const all = await apart(...args, b!)
        const skip = random(3)
        expect(await listCommitIds(dir, { ...range, skip, limit: 10 }), about).toEqual(all.slice(skip, skip + 10))
        expect(await countCommits(dir, range), about).toBe(all.length)
      }
      const ofTwo = await apart(b!, c!)
      expect(await listCommitIds(dir, { from: [b!, c!], not: [a!], limit: 1000 }), about).toEqual(ofTwo)
      const isBefore = await isAncestor(dir, a!, b!)
      expect(isBefore, about).toBe(await succeeds(repo.git('merge-base', '--is-ancestor', a!, b!)))
      const all = await apart(b!)
      expect(await pushedCommits(dir, await repo.git('rev-parse', a!), b!, 1000)).toEqual({
        ids: all,
        isForward: isBefore,
      })
      const back = linesOf(await repo.git('rev-list', a!)).length - linesOf(await repo.git('rev-list', b!)).length
      expect(await aheadBehind(dir, b!, a!), about).toEqual({ ahead: all.length, behind: all.length + back })
      expect(await mergeBase(dir, [a!, b!]), about).toBe(await baseOf(repo, a!, b!))
      expect(await mergeBase(dir, [a!, b!, c!]), `${about} ${c}`).toBe(await baseOf(repo, a!, b!, c!))
    }
  }
})

const baseOf = async (repo: BuiltRepository, ...names: string[]) =>
  linesOf(await repo.git('merge-base', '--octopus', ...names).catch(() => ''))[0] ?? null

test.each([
  [1, 2],
  [2, 1],
  [3, 3],
  [9, 1],
])('where two have merged each other, the newer base is the one, or git is asked (%s, %s)', async (...dates) => {
  await using repo = await buildRepository({ files: { a: '1' }, at: START })
  const [root, tree] = linesOf(await repo.git('rev-parse', 'master', 'master^{tree}'))
  const commit = (after: number, ...parents: string[]) => {
    const named = parents.map((id) => `parent ${id}\n`).join('')
    const who = `Ada <ada@example.com> ${START + after} +0000`
    return repo.write('commit', `tree ${tree}\n${named}author ${who}\ncommitter ${who}\n\n${after}\n`)
  }
  const [left, right] = [await commit(dates[0]!, root!), await commit(dates[1]!, root!, root!)]
  const ends = [await commit(5, left, right), await commit(6, right, left)]
  expect(linesOf(await repo.git('merge-base', '--all', ...ends))).toHaveLength(2)
  expect(await mergeBase(repo.dir, ends)).toBe(await baseOf(repo, ...ends))
  expect(await mergeBase(repo.dir, ends.toReversed())).toBe(await baseOf(repo, ...ends.toReversed()))
})

const succeeds = (running: Promise<unknown>) =>
  running.then(
    () => true,
    () => false,
  )

test('what two commits have apart and in common takes no process', async () => {
  const side = Array.from({ length: 5 }, (_, n) => ({ branch: 'side', files: { s: `${n}` } }))
  await using repo = await buildRepository(
    { files: { a: '1' } },
    { files: { a: '2' } },
    { branch: 'side', from: 'refs/heads/master', files: { s: '' } },
    ...side,
    { files: { a: '3' } },
  )
  const { dir } = repo
  const base = await repo.git('merge-base', 'master', 'side')
  // The object reader.
  await listCommitIds(dir, { limit: 1 })
  const started = await processesOf(async () => {
    expect(await aheadBehind(dir, 'side', 'master')).toEqual({ ahead: 6, behind: 1 })
    expect(await mergeBase(dir, ['side', 'master'])).toBe(base)
    expect(await isAncestor(dir, base, 'side')).toBe(true)
    expect(await isAncestor(dir, 'master', 'side')).toBe(false)
    expect(await listCommitIds(dir, { from: 'side', not: ['master'], limit: 4 })).toHaveLength(4)
    expect(await countCommits(dir, { from: 'side', not: ['master'] })).toBe(6)
  })
  expect(started).toEqual([])
})

test.each([4, 5])('files have the history that git tells of them (%s)', async (seed) => {
  await using repo = await buildRepository()
  const random = randomFrom(seed)
  const story = new Story(repo, random)
  for (const growth of [40, 1, 1, 1, 2, 1]) {
    await story.grow(growth)
    for (const tip of [`b${story.marks.at(-1)!}`, `b${1 + random(story.marks.length)}`]) {
      const commit = await repo.git('rev-parse', tip)
      for (const path of PATHS) {
        const args = ['--literal-pathspecs', 'log', '--format=%H']
        const last = await repo.git(...args, '-1', tip, '--', path)
        expect(await lastCommitOf(repo.dir, commit, path), `${tip} ${path}`).toBe(last || null)
        const all = linesOf(await repo.git(...args, '--follow', tip, '--', path))
        const { commits, total } = await listHistory(repo.dir, { from: commit, path }, { limit: 30 })
        expect({ ids: commits.map(({ id }) => id), total }, `${tip} ${path}`).toEqual({
          ids: all.slice(0, 30),
          total: all.length,
        })
      }
    }
  }
})

test.each([8, 9])('a file has the same blame at a commit and at its last change before (%s)', async (seed) => {
  await using repo = await buildRepository()
  const random = randomFrom(seed)
  const story = new Story(repo, random)
  await story.grow(80)
  let compared = 0
  for (const path of PATHS) {
    for (const back of [0, 3, 10, 30]) {
      const commit = await repo.git('rev-parse', `b${story.marks.length - back}`)
      const last = await lastCommitOf(repo.dir, commit, path)
      if (last === null || last === commit) continue
      const at = async (id: string) =>
        (await blame(repo.dir, id, path))?.map(({ commit, start, lines }) => [commit.id, start, lines.length])
      expect(await at(last), `${commit} ${path}`).toEqual(await at(commit))
      compared++
    }
  }
  expect(compared).toBeGreaterThan(5)
})

test('once known, histories are told without a process, also after a push', async () => {
  const files = { 'a/x': '1', 'a/y': '1', b: '1' }
  await using repo = await buildRepository({ files }, { files: { b: '2' } }, { files: { 'a/x': '2' } })
  const { dir } = repo
  const read = async () => {
    const page = await listHistory(dir, { from: 'master' }, { limit: 20 })
    const tip = page.commits[0]!.id
    const last = await Promise.all(['a/x', 'a/y', 'b'].map((path) => lastCommitOf(dir, tip, path)))
    const ofFile = await listHistory(dir, { from: 'master', path: 'a/x' }, { limit: 20 })
    const place = (id: string | null) => page.commits.findIndex((commit) => commit.id === id)
    return [page.total, last.map(place), ofFile.commits.map(({ id }) => place(id))]
  }
  expect(await read()).toEqual([3, [0, 2, 1], [0, 2]])
  expect(await processesOf(async () => expect(await read()).toEqual([3, [0, 2, 1], [0, 2]]))).toEqual([])
  await repo.add({ files: { 'a/y': '2' } }, { files: { 'a/x': '3' } }, { files: { c: '1' } })
  expect(await processesOf(async () => expect(await read()).toEqual([6, [1, 2, 4], [1, 3, 5]]))).toEqual([])
})

test('what git knows of a history that its commits do not say is left to git', async () => {
  await using repo = await buildRepository({ files: { a: '1' } }, { files: { a: '2' } }, { files: { a: '3' } })
  const { dir } = repo
  const middle = await repo.git('rev-parse', 'master~1')
  await writeFile(join(dir, 'shallow'), `${middle}\n`)
  expect(await listHistory(dir, { from: 'master' }, { limit: 20 })).toMatchObject({ total: 2, commits: [{}, {}] })

  // With a missing object, the newest commits are still found.
  await using broken = await buildRepository({ files: { a: '1' } }, { files: { a: '2' } }, { files: { a: '3' } })
  const [newest, , oldest] = linesOf(await broken.git('rev-list', 'master'))
  await rm(join(broken.dir, 'objects', oldest!.slice(0, 2), oldest!.slice(2)))
  expect(await listCommitIds(broken.dir, { from: 'master', limit: 1 })).toEqual([newest])
  await expect(listHistory(broken.dir, { from: 'master' }, { limit: 1 })).rejects.toMatchObject({ name: 'GitFailed' })
})

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

test('commits with parents without end are left to git', async () => {
  await using repo = await buildRepository({ files: { a: '1' } })
  const { dir } = repo
  const [tip, tree] = linesOf(await repo.git('rev-parse', 'master', 'master^{tree}'))
  const who = 'Ada <ada@example.com>'
  const parents = `parent ${tip}\n`.repeat(9000)
  let last = tip!
  for (let n = 0; n < 25; n++) {
    const at = 1_800_000_000 + n
    const text = `tree ${tree}\nparent ${last}\n${parents}author ${who} ${at} +0000\ncommitter ${who} ${at} +0000\n\n${n}\n`
    last = await repo.write('commit', text)
  }
  const { total } = await listHistory(dir, { from: last }, { limit: 1 })
  expect(total).toBe(26)
  expect(await ancestryOf(dir, last)).toBeNull()
})
