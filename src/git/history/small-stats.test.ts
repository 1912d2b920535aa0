/** Compares line counts without a process with git's own. */
import { expect, test } from 'vitest'
import { buildRepository, processesOf, type BuiltCommit } from '../../../test/git-builder.ts'
import { findCommits } from '../objects/commits.ts'
import { countSmall } from './small-stats.ts'
import { commitStats, countLines } from './stats.ts'

function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return (state >>> 16) % below
  }
}

/** Lines that repeat, some of them often, as in programs. The last line may lack its line break. */
function change(random: (below: number) => number, text: string, variety: number): string {
  const lines = text.split('\n')
  for (let edits = 1 + random(6); edits > 0; edits--) {
    const isFrequent = () => random(variety < 100 ? 2 : 8) === 0
    const fresh = Array.from({ length: random(16) }, () => (isFrequent() ? '' : `line ${random(variety)}`))
    lines.splice(random(lines.length + 1), random(12), ...fresh)
  }
  return lines.join('\n')
}

async function bothOf(dir: string, names: readonly string[]) {
  const commits = (await findCommits(dir, names)).map((commit) => commit!)
  const byGit = await countLines(dir, commits)
  const ours = await Promise.all(commits.map((commit) => countSmall(dir, commit)))
  return commits.map(({ id }, n) => ({ id, ours: ours[n]!, git: byGit.get(id)! }))
}

test.each([3, 12, 60, 2000])('texts of which %s lines differ count as git counts them', async (variety) => {
  const random = randomFrom(variety)
  const texts = ['', '\n'.repeat(40), '}\n\n'.repeat(30)]
  const commits = Array.from({ length: 150 }, (): BuiltCommit => {
    const at = random(texts.length)
    texts[at] = change(random, texts[at]!, variety)
    if (random(15) === 0) texts[at] = '\n'.repeat(random(60))
    return { files: { [`folder${at}/text`]: texts[at]! } }
  })
  await using repo = await buildRepository(...commits)
  const counted = await bothOf(
    repo.dir,
    commits.map((_, n) => `master~${n}`),
  )
  const answered = counted.filter(({ ours }) => ours !== null)
  expect(answered.length).toBeGreaterThan(100)
  for (const { id, ours, git } of answered) expect(ours, id).toEqual(git)
})

const LINK = '1'.repeat(40)
const WORDS = Array.from({ length: 30 }, (_, n) => `word ${n}\n`).join('')

test('what is no text, moves, and is no file counts as git counts it, or is left to git', async () => {
  const commits: (BuiltCommit & { isLeft?: true })[] = [
    { files: { a: 'one\n', 'd/e/b': WORDS, c: '\0\x01', link: { mode: '120000', content: 'a' } } },
    { files: { c: '\0\x02', a: 'one\ntwo' } },
    { files: { c: 'text\n' } },
    { files: { a: { mode: '100755', content: 'one\ntwo' } } },
    { files: { a: { mode: '100644', content: 'two\n' } } },
    { files: { m: { mode: '160000', content: LINK } } },
    { files: { m: { mode: '160000', content: '2'.repeat(40) } } },
    { files: { m: null, link: { mode: '120000', content: 'd/e/b' } } },
    { files: { 'd/e/b': null, 'f/b': WORDS } },
    { files: { 'f/b': null, b: `${WORDS}more\n` }, isLeft: true },
    { files: { b: null, d: 'one\n' }, isLeft: true },
    { files: { d: null, 'd/x': 'one\n', y: 'one\n' }, isLeft: true },
    { files: { y: { mode: '120000', content: 'd/x' } }, isLeft: true },
    { files: { empty: '', 'd/x': '' } },
    { files: { big: `${WORDS.repeat(10)}`, '\xff\xfe': 'odd\n' }, isLeft: true },
    { files: { '\xff\xfe': null, big: WORDS.repeat(9).replaceAll('word', 'other') }, isLeft: true },
    { files: { big: null, a: null } },
    { files: { '.gitattributes': '* binary\n', a: 'three\n' }, isLeft: true },
  ]
  await using repo = await buildRepository(...commits)
  const counted = await bothOf(
    repo.dir,
    commits.map((_, n) => `master~${commits.length - 1 - n}`),
  )
  for (const [n, { ours, git }] of counted.entries())
    expect(ours, `commit ${n}`).toEqual(commits[n]!.isLeft ? null : git)
})

test('a few small commits take no process, and a merge is counted against its first parent', async () => {
  await using repo = await buildRepository(
    { files: { a: 'one\n' } },
    { branch: 'side', from: 'refs/heads/master', files: { b: 'one\ntwo\n' } },
  )
  await repo.add({ merge: 'refs/heads/side', files: { b: 'one\ntwo\n', a: 'one\nmore\n' } })
  await findCommits(repo.dir, ['master'])
  const started = await processesOf(async () => {
    const stats = await commitStats(repo.dir, ['master', 'side'])
    expect([...stats.values()]).toEqual([
      { additions: 3, deletions: 0 },
      { additions: 2, deletions: 0 },
    ])
  })
  expect(started).toEqual([])
})
