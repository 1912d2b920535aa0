/**
 * Merges, squashes, fast-forwards and rebases built from objects give the same result as git in a working copy: the
 * same trees and messages, or the same files in conflict. A failure names its seed: `SHADOW_SEED=7` repeats it.
 */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { buildRepository, type BuiltCommit } from '../../../../test/git-builder.ts'
import { mergeBase } from '../../../git/history/history.ts'
import { mergeCommits, rebaseCommits, type Conflict } from '../../../git/merging/merging.ts'
import type { Signer } from '../../../git/objects/building.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import { listCommits } from '../../../git/history/history.ts'
import { buildMerge, type MergePlan } from './build.ts'

const HISTORIES = 50
const FIRST_SEED = Number(process.env.SHADOW_SEED ?? 1)

/** The same sequence for the same seed. */
function randomOf(seed: number) {
  let state = seed * 2_654_435_761
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (n: number) => Math.floor(next() * n),
    chance: (p: number) => next() < p,
    of: <T>(some: readonly T[]): T => some[Math.floor(next() * some.length)]!,
  }
}
type Random = ReturnType<typeof randomOf>

interface File {
  readonly mode: string
  readonly content: string
}
type Files = Map<string, File>

const PLAIN = '100644'
const lines = (r: Random, n: number) => Array.from({ length: n }, (_, at) => `line ${at} ${r.below(3)}`)
const text = (some: readonly string[]) => `${some.join('\n')}\n`
const submodule = (r: Random) => (1 + r.below(9)).toString().repeat(40)
const binary = (r: Random) => `\0\x01${r.below(1000)}\0${'x'.repeat(r.below(200))}`

function firstFiles(r: Random): Files {
  const files: Files = new Map()
  for (const name of ['a.txt', 'b.txt', 'dir/c.txt', 'dir/d.txt', 'dir/deep/e.txt', 'ü z.txt'])
    files.set(name, { mode: PLAIN, content: text([name, ...lines(r, 12 + r.below(12))]) })
  files.set('run.sh', { mode: '100755', content: text(['#!/bin/sh', ...lines(r, 6)]) })
  files.set('image.bin', { mode: PLAIN, content: binary(r) })
  files.set('link', { mode: '120000', content: 'a.txt' })
  files.set('module', { mode: '160000', content: submodule(r) })
  return files
}

/** One change of one side. Both sides sometimes make the same change. */
function change(r: Random, files: Files, side: string): void {
  const paths = [...files.keys()]
  const texts = paths.filter((path) => files.get(path)!.mode === PLAIN && !path.endsWith('.bin'))
  const path = r.of(texts.length > 0 ? texts : paths)
  const file = files.get(path)!
  const word = r.chance(0.2) ? 'agreed' : `${side} ${r.below(1000)}`
  const edited = (by = 1) => {
    const all = file.content.split('\n').slice(0, -1)
    for (let n = 0; n < by; n++) all[r.below(all.length)] = word
    if (r.chance(0.3)) all.splice(r.below(all.length), 0, `more ${word}`)
    if (r.chance(0.2) && all.length > 3) all.splice(r.below(all.length), 1)
    return { ...file, content: text(all) }
  }
  const move = (from: string, to: string, content: File) => {
    files.delete(from)
    files.set(to, content)
  }
  const act = r.below(14)
  if (act < 5) files.set(path, edited(1 + r.below(2)))
  else if (act === 5) files.delete(path)
  else if (act === 6) files.set(`new${r.below(4)}.txt`, { mode: PLAIN, content: text([word, ...lines(r, 5)]) })
  else if (act === 7) move(path, `moved${r.below(5)}.txt`, file)
  else if (act === 8) move(path, `dir/moved${r.below(5)}.txt`, edited())
  else if (act === 9) {
    for (const one of paths.filter((name) => name.startsWith('dir/')))
      move(one, one.replace('dir/', `folder${r.below(2)}/`), files.get(one)!)
  } else if (act === 10) files.set(path, { ...file, mode: file.mode === PLAIN ? '100755' : PLAIN })
  else if (act === 11) files.set('image.bin', { mode: PLAIN, content: binary(r) })
  else if (act === 12) files.set('module', { mode: '160000', content: submodule(r) })
  else if (r.chance(0.5)) files.set('link', { mode: '120000', content: word })
  else files.set(path, { mode: '120000', content: 'elsewhere' })
}

const changedBetween = (before: Files, after: Files) => ({
  ...Object.fromEntries([...before.keys()].filter((path) => !after.has(path)).map((path) => [path, null])),
  ...Object.fromEntries([...after].filter(([path, file]) => before.get(path) !== file)),
})

/** Branches `base…`, `ours…` and `theirs…` of one history. */
function historyOf(seed: number): BuiltCommit[] {
  const r = randomOf(seed)
  const root = firstFiles(r)
  const commits: BuiltCommit[] = [{ branch: `base${seed}`, files: changedBetween(new Map(), root), message: 'root\n' }]
  const grow = (side: string, from: string, files: Files, count: number): Files => {
    let now = files
    for (let n = 0; n < count; n++) {
      const next = new Map(now)
      const isEmpty = r.chance(0.05)
      for (let c = 0; !isEmpty && c < 1 + r.below(3); c++) change(r, next, side)
      commits.push({
        branch: `${side}${seed}`,
        ...(n === 0 && { from }),
        files: changedBetween(now, next),
        author: `${side} ${n} <${side}@example.com>`,
        message: `${side} ${n}\n\nSome words of ${seed}.\n`,
      })
      now = next
    }
    return now
  }
  const ours = grow('ours', `refs/heads/base${seed}`, root, 1 + r.below(3))
  const theirs = grow('theirs', `refs/heads/base${seed}`, root, 1 + r.below(4))
  // A side that has merged the other one and then continued.
  if (r.chance(0.2)) {
    const merged = new Map([...theirs, ...ours])
    const merge = `refs/heads/ours${seed}`
    const files = changedBetween(theirs, merged)
    commits.push({ branch: `theirs${seed}`, merge, files, message: 'merged\n' })
    const next = new Map(merged)
    change(r, next, 'theirs')
    commits.push({ branch: `theirs${seed}`, files: changedBetween(merged, next), message: 'after\n' })
    const late = new Map(ours)
    change(r, late, 'ours')
    commits.push({ branch: `ours${seed}`, files: changedBetween(ours, late), message: 'late\n' })
  }
  return commits
}

const MESSAGE = "Merge branch 'theirs' into 'ours'\n\nÜber alles\n\nCloses #1\n\nSee merge request group/project!1"
const SQUASHED = 'Squashed title\n\nWith a body.'
const WHO: Signer = { name: 'Ada', email: 'ada@example.com', date: new Date(1_750_000_000_000) }

/** Prints `clean` and the result, or `conflict` and the files, as text to compare. */
const SCRIPT = `
begin() { git checkout -qf --detach "$1" && git clean -qffdx; }
told() { echo "@ $1"; }
conflict() { told conflict; git -c core.quotePath=false ls-files -u; git reset -q --hard; }
merge() { begin "$1"; if git merge -q --no-ff -m "$MESSAGE" "$2"; then told clean; git log -1 --format='%T%n%P%n%B'; else conflict; fi; }
squash() {
  begin "$3"; git merge -q --squash "$2"; git commit -q --allow-empty -m "$SQUASHED"; S=$(git rev-parse HEAD)
  begin "$1"; if git merge -q --no-ff -m "$MESSAGE" $S; then told clean; git log -1 --format='%T%n%B'; git log -1 --format='%T%n%B' $S; else conflict; fi
}
onto() { begin "$1"; if git merge -q --squash "$2"; then git commit -q --allow-empty -m "$SQUASHED"; told clean; git log -1 --format='%T%n%P%n%B'; else conflict; fi; }
forward() { begin "$1"; if git merge -q --ff-only "$2"; then told clean; git rev-parse HEAD; else told refused; fi; }
rebase() {
  begin "$2"
  if git rebase -q "$1"; then told clean; git log --topo-order --format='%T %an %ae %at%n%B' "$1..HEAD"
  else git rev-parse REBASE_HEAD > ../at; conflict; cat ../at; git rebase --abort; fi
}
`

const KINDS = ['merge', 'squash', 'onto', 'forward', 'rebase'] as const
type Kind = (typeof KINDS)[number]

interface Sides {
  readonly ours: string
  readonly theirs: string
  readonly base: string
}

const run = promisify(execFile)

/** The results of git for all cases, in one run. */
async function shadows(root: string, dir: string, requests: readonly (Sides & { kind: Kind })[]): Promise<string[]> {
  const work = join(root, 'work')
  const env = {
    PATH: process.env.PATH,
    HOME: root,
    LC_ALL: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_CONFIG_COUNT: '2',
    GIT_CONFIG_KEY_0: 'core.fsync',
    GIT_CONFIG_VALUE_0: 'none',
    GIT_CONFIG_KEY_1: 'advice.detachedHead',
    GIT_CONFIG_VALUE_1: 'false',
    MESSAGE,
    SQUASHED,
  }
  await run('git', [`--git-dir=${dir}`, 'worktree', 'add', '-q', '--detach', work, requests[0]!.base], { env })
  const calls = requests.map(({ kind, ours, theirs, base }) => `echo "@@"; ${kind} ${ours} ${theirs} ${base}`)
  const script = join(root, 'script.sh')
  await writeFile(script, `${SCRIPT}\n${calls.join('\n')}\n`)
  // Other output of git about conflicts is ignored.
  const { stdout } = await run('sh', ['-c', `exec sh ${script} 2>/dev/null`], { cwd: work, env, maxBuffer: 64 << 20 })
  const outputs = stdout.split('@@\n').slice(1)
  return outputs.map((one) => wordsOf(one.slice(Math.max(0, one.search(/^@ /m)))))
}

const wordsOf = (output: string) => output.trimEnd().replaceAll(/~(?:HEAD|[0-9a-f]{7,40}[^\n]*)$/gm, '~')

/** A half-merged file contains markers with the names of the sides, so its id differs and is masked. */
const comparable = (words: string, known: ReadonlySet<string>) =>
  words.replaceAll(/^(100\d+) ([0-9a-f]{40}) (?=[123]\t)/gm, (line, mode: string, id: string) =>
    known.has(id) ? line : `${mode} marked `,
  )

const conflictText = (conflicts: readonly Conflict[]) => {
  const stages = conflicts.flatMap(({ path, base, ours, theirs }) =>
    [base, ours, theirs].flatMap((side, n) => (side ? [`${side.mode} ${side.id} ${n + 1}\t${path}`] : [])),
  )
  return ['@ conflict', ...stages].join('\n')
}

async function shownBy(dir: string, id: string, parents = true): Promise<string> {
  const commit = (await findCommit(dir, id))!
  return [commit.tree, ...(parents ? [commit.parents.join(' ')] : []), commit.message.trimEnd(), ''].join('\n')
}

/** The result of this server for one case. */
async function ownWords(dir: string, kind: Kind, { ours, theirs }: Sides): Promise<string> {
  if (kind === 'rebase') {
    const result = await rebaseCommits(dir, { from: theirs, onto: ours, committer: WHO })
    if (result?.conflicts) return wordsOf(`${conflictText(result.conflicts)}\n${result.commit}`)
    const head = result?.head ?? theirs
    const commits = await listCommits(dir, { from: head, not: [ours], limit: 100, order: 'topo' })
    const one = ({ tree, author, message }: (typeof commits)[number]) =>
      `${tree} ${author.name} ${author.email} ${Math.floor(author.date.getTime() / 1000)}\n${message.trimEnd()}\n`
    return ['@ clean', ...commits.map((commit) => `${one(commit)}`)].join('\n').trimEnd()
  }
  const plan: MergePlan = {
    method: kind === 'merge' || kind === 'squash' ? 'merge' : 'ff',
    squash: kind === 'squash' || kind === 'onto',
    target: ours,
    head: theirs,
    message: MESSAGE,
    squashMessage: SQUASHED,
    author: WHO,
    merger: WHO,
  }
  const built = await buildMerge(dir, plan)
  if (!('fault' in built)) {
    if (kind === 'forward') return `@ clean\n${built.commit}`
    if (kind !== 'squash') return `@ clean\n${await shownBy(dir, built.commit)}`.trimEnd()
    const words = [await shownBy(dir, built.commit, false), await shownBy(dir, built.squashCommit!, false)]
    return ['@ clean', ...words].join('\n').trimEnd()
  }
  if (kind === 'forward') return '@ refused'
  expect(built.fault).toBe('conflict')
  const { conflicts } = await mergeCommits(dir, { ours, theirs })
  return wordsOf(conflictText(conflicts!))
}

test(
  '200 random merges, squashes, fast-forwards and rebases are what git makes of them',
  { timeout: 120_000 },
  async () => {
    const seeds = Array.from({ length: HISTORIES }, (_, n) => FIRST_SEED + n)
    await using repository = await buildRepository(...seeds.flatMap(historyOf))
    const { dir, root, git } = repository
    const ids = new Map(
      (await git('for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads'))
        .split('\n')
        .map((line) => line.split(' ') as [string, string]),
    )
    const requests = []
    for (const seed of seeds) {
      const [ours, theirs, root] = ['ours', 'theirs', 'base'].map((side) => ids.get(`${side}${seed}`)!)
      const base = (await mergeBase(dir, [ours!, theirs!]))!
      const sides = { ours: ours!, theirs: theirs!, base }
      const count = Number(await git('rev-list', '--count', `${base}..${theirs}`))
      // A single commit is not squashed: the result is a plain merge.
      const kinds: Kind[] = count > 1 ? ['merge', seed % 2 ? 'squash' : 'onto', 'rebase'] : ['merge', 'rebase']
      for (const kind of kinds) requests.push({ seed, kind, ...sides })
      requests.push({ seed, kind: 'forward' as const, ...sides, ours: seed % 2 ? root! : ours! })
      if (kinds.length < 3) requests.push({ seed, kind: 'merge' as const, ours: theirs!, theirs: ours!, base })
    }
    expect(requests).toHaveLength(4 * HISTORIES)
    const known = new Set((await git('rev-list', '--objects', '--no-object-names', '--all')).split('\n'))
    const theirs = await shadows(root, dir, requests)
    const answers = new Set<string>()
    for (const [n, { seed, kind, ...sides }] of requests.entries()) {
      const own = comparable(await ownWords(dir, kind, sides), known)
      expect(`${kind} of seed ${seed}: ${own}`).toBe(`${kind} of seed ${seed}: ${comparable(theirs[n]!, known)}`)
      answers.add(`${kind} ${/^@ (\w+)/.exec(own)?.[1]}`)
    }
    // The cases contain both clean results and conflicts.
    for (const kind of KINDS) {
      expect(answers).toContain(`${kind} clean`)
      expect(answers).toContain(`${kind} ${kind === 'forward' ? 'refused' : 'conflict'}`)
    }
  },
)
