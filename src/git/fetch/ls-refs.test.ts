import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { buildRepository, processesOf, type BuiltRepository } from '../../../test/git-builder.ts'
import { lsRefs } from './ls-refs.ts'
import { HIDDEN } from '../refs/namespaces.ts'
import { BadPktLine, DELIM, FLUSH, pktLine } from '../protocol/pkt-line.ts'
import { readRefs } from '../refs/ref-files.ts'

/**
 * Branches, tags of both kinds, a tag of a tag, and hidden refs: some packed, some loose, some both with different
 * values.
 */
async function repository(): Promise<BuiltRepository> {
  const repo = await buildRepository({}, { branch: 'feature/ü' }, { branch: 'other' })
  const { git } = repo
  for (const name of ['light', 'light2']) await git('tag', name, 'master')
  const tag = (name: string, target: string) =>
    git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'tag', '-a', '-m', 'x', name, target)
  await tag('packed', 'other')
  await tag('packed-twice', 'packed')
  for (const place of HIDDEN) await git('update-ref', `${place}/x`, 'master')
  await git('update-ref', 'refs/merge-requests/1/head', 'other')
  await git('pack-refs', '--all')
  await repo.add({}, { branch: 'loose' })
  await tag('loose', 'master')
  await tag('loose-twice', 'loose')
  await git('update-ref', '-d', 'refs/tags/light2')
  return repo
}

const request = (...words: string[]) =>
  Buffer.concat([
    pktLine('command=ls-refs\n'),
    pktLine('agent=git/x'),
    pktLine('object-format=sha1'),
    DELIM,
    ...words.map((word) => pktLine(`${word}\n`)),
    FLUSH,
  ])

async function answerOfGit(dir: string, message: Buffer): Promise<string> {
  const hidden = HIDDEN.flatMap((place) => ['-c', `transfer.hideRefs=${place}`])
  const child = spawn('git', [...hidden, 'upload-pack', '--stateless-rpc', dir], {
    env: { ...process.env, GIT_PROTOCOL: 'version=2' },
  })
  child.stdin.end(message)
  return (await buffer(child.stdout)).toString()
}

const WISHES = [
  [],
  ['peel', 'symrefs'],
  ['peel', 'symrefs', 'unborn', 'ref-prefix refs/heads/', 'ref-prefix refs/tags/', 'ref-prefix HEAD'],
  ['ref-prefix refs/heads/feature'],
  ['symrefs', 'ref-prefix HEAD'],
  ['peel', 'ref-prefix refs/tags/loose'],
  ['ref-prefix nothing'],
]

test('it says what git says, word for word, and starts nothing for it', async () => {
  await using repo = await repository()
  for (const words of WISHES) {
    const message = request(...words)
    expect((await lsRefs(repo.dir, message))?.toString(), words.join()).toBe(await answerOfGit(repo.dir, message))
  }
  expect(await processesOf(() => lsRefs(repo.dir, request('symrefs')))).toEqual([])
})

test('an empty repository names its unborn branch to those who ask', async () => {
  await using repo = await buildRepository()
  for (const words of [[], ['symrefs', 'unborn']]) {
    const message = request(...words)
    expect((await lsRefs(repo.dir, message))?.toString()).toBe(await answerOfGit(repo.dir, message))
  }
})

test('more is hidden on demand', async () => {
  await using repo = await repository()
  const answer = (await lsRefs(repo.dir, request(), ['refs/tags', 'refs/heads/oth']))!.toString()
  expect(answer).toContain('refs/heads/other')
  expect(answer).not.toContain('refs/tags')
})

test.each([
  ['another command', Buffer.concat([pktLine('command=fetch\n'), DELIM, FLUSH])],
  ['a word we do not know', request('ref-suffix x')],
  ['no end', request().subarray(0, -4)],
  ['nothing', Buffer.alloc(0)],
])('%s is left to git', async (_what, message) => {
  await using repo = await buildRepository({})
  expect(await lsRefs(repo.dir, message)).toBeNull()
})

test('what is no lines is refused', async () => {
  for (const message of [Buffer.from('GET / HTTP/1.1'), request().subarray(0, -1)])
    await expect(lsRefs('/nowhere', message)).rejects.toThrow(BadPktLine)
})

test.each([
  ['a ref that names another', 'refs/heads/alias', 'ref: refs/heads/master\n'],
  ['an empty file', 'refs/heads/empty', ''],
  ['packed refs that are damaged', 'packed-refs', 'x\n'],
])('%s is left to git', async (_what, file, content) => {
  await using repo = await buildRepository({})
  await mkdir(dirname(join(repo.dir, file)), { recursive: true })
  await writeFile(join(repo.dir, file), content)
  expect(await readRefs(repo.dir)).toBeNull()
})

test('a lock is no ref', async () => {
  await using repo = await buildRepository({})
  await writeFile(join(repo.dir, 'refs/heads/x.lock'), '')
  expect((await readRefs(repo.dir))?.map(({ name }) => name)).toEqual(['refs/heads/master'])
})

test('refs are found while they are being packed', async () => {
  await using repo = await buildRepository({})
  const names = Array.from({ length: 50 }, (_, n) => `refs/heads/b${n}`)
  for (let round = 0; round < 5; round++) {
    for (const name of names) await repo.git('update-ref', name, 'master')
    const packing = repo.git('pack-refs', '--all')
    let isOver = false
    void packing.then(() => (isOver = true))
    while (!isOver) expect(await readRefs(repo.dir)).toHaveLength(51)
    await packing
  }
})
