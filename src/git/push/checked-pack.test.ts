/**
 * Compares the check in process with git's own, on packs that are sound, hostile or random. Packs that the check leaves
 * to git need no comparison. `MORTISE_FUZZ_SEEDS=2000` runs more seeds.
 */
import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { buildRepository, type BuiltRepository } from '../../../test/git-builder.ts'
import { git } from '../process/command.ts'
import { checkPack, type CheckedPack } from './checked-pack.ts'
import { idOf } from './pack-entries.ts'

type Type = 'commit' | 'tree' | 'blob' | 'tag'
const BITS = { commit: 1, tree: 2, blob: 3, tag: 4 }
const BY = 'A <a@example.com> 1700000000 +0000'

interface Part {
  readonly type: Type
  readonly content: Buffer
  /** A delta against an object of the repository, an entry by its number, or an id. */
  readonly base?: { readonly id: string; readonly content: Buffer } | number
  /** Other than the real one. */
  readonly size?: number
  readonly packed?: Buffer
}

const blob = (text: string | Buffer): Part => ({ type: 'blob', content: Buffer.from(text) })
const idIn = ({ type, content }: Part) => idOf(type, content)
const commit = (tree: string, parents: string[] = [], message = 'x\n', by = BY): Part => ({
  type: 'commit',
  content: Buffer.from(
    `tree ${tree}\n${parents.map((id) => `parent ${id}\n`).join('')}author ${by}\ncommitter ${BY}\n\n${message}`,
    'latin1',
  ),
})
const tree = (...entries: [mode: string, name: string, id: string][]): Part => ({
  type: 'tree',
  content: Buffer.concat(
    entries.flatMap(([mode, name, id]) => [Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(id, 'hex')]),
  ),
})

function numberBytes(value: number): Buffer {
  const bytes: number[] = []
  for (; value > 0x7f; value = Math.floor(value / 128)) bytes.push((value & 0x7f) | 0x80)
  return Buffer.from([...bytes, value])
}

/** Copies what both have in common at the start, and adds the rest. */
function deltaOf(base: Buffer, content: Buffer): Buffer {
  let same = 0
  while (same < Math.min(base.length, content.length, 0xffff) && base[same] === content[same]) same++
  const parts = [numberBytes(base.length), numberBytes(content.length)]
  if (same > 0) parts.push(Buffer.from([0x80 | 0x10 | 0x20, same & 0xff, same >> 8]))
  for (let at = same; at < content.length; at += 127) {
    const some = content.subarray(at, at + 127)
    parts.push(Buffer.from([some.length]), some)
  }
  return Buffer.concat(parts)
}

function headOf(bits: number, size: number): Buffer {
  const bytes = [(bits << 4) | (size & 15)]
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes[bytes.length - 1]! |= 0x80
    bytes.push(rest & 0x7f)
  }
  return Buffer.from(bytes)
}

function distanceBytes(distance: number): Buffer {
  const bytes = [distance & 0x7f]
  for (let rest = distance >> 7; rest > 0; rest >>= 7) bytes.unshift(0x80 | (--rest & 0x7f))
  return Buffer.from(bytes)
}

const signed = (body: Buffer) => Buffer.concat([body, createHash('sha1').update(body).digest()])

function packOf(parts: readonly Part[], { count = parts.length, version = 2, after = Buffer.alloc(0) } = {}): Buffer {
  const head = Buffer.alloc(12)
  head.write('PACK')
  head.writeUInt32BE(version, 4)
  head.writeUInt32BE(count, 8)
  const bytes: Buffer[] = [head]
  const offsets: number[] = []
  let at = 12
  for (const part of parts) {
    const { base } = part
    const from = typeof base === 'number' ? parts[base]?.content : base?.content
    const content = part.base === undefined ? part.content : deltaOf(from ?? Buffer.alloc(0), part.content)
    const reference =
      typeof base === 'number' ? distanceBytes(at - (offsets[base] ?? at)) : Buffer.from(base?.id ?? '', 'hex')
    const bits = base === undefined ? BITS[part.type] : typeof base === 'number' ? 6 : 7
    const entry = [headOf(bits, part.size ?? content.length), reference, part.packed ?? deflateSync(content)]
    offsets.push(at)
    for (const piece of entry) at += bytes[bytes.push(piece) - 1]!.length
  }
  return signed(Buffer.concat([...bytes, after]))
}

/** What git says: the ids in its index, or null. */
async function judgedByGit({ dir, root }: BuiltRepository, pack: Buffer): Promise<string[] | null> {
  const path = join(root, 'quarantine')
  await mkdir(join(path, 'pack'), { recursive: true })
  const environment = {
    GIT_OBJECT_DIRECTORY: path,
    GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(dir, 'objects')),
  }
  try {
    const words = await git(dir, ['index-pack', '--stdin', '--fix-thin', '--strict'], { input: pack, environment })
    const name = /[0-9a-f]{40}/.exec(words)![0]
    return idsIn(await git(dir, ['verify-pack', '-v', join(path, `pack/pack-${name}.idx`) as 'x'], { environment }))
  } catch {
    return null
  } finally {
    await rm(path, { recursive: true })
  }
}

const idsIn = (listing: string) =>
  (listing.match(/^[0-9a-f]{40} (commit|tree|blob|tag) .*$/gm) ?? []).map((line) => line.slice(0, 40)).toSorted()

/** Reads our pack and index with git, which checks all their sums. */
async function writtenByUs({ dir, root }: BuiltRepository, { name, pack, index }: CheckedPack): Promise<string[]> {
  const path = join(root, 'ours')
  await mkdir(path)
  await writeFile(join(path, `${name}.pack`), pack)
  await writeFile(join(path, `${name}.idx`), index)
  const listing = await git(dir, ['verify-pack', '-v', join(path, `${name}.idx`) as 'x'])
  await rm(path, { recursive: true })
  return idsIn(listing)
}

/** Null if the pack is left to git. Otherwise whether git agrees, to the last object. */
async function compare(repository: BuiltRepository, pack: Buffer): Promise<'agreed' | 'differs' | null> {
  const ours = await checkPack(repository.dir, pack)
  if (!ours) return null
  const theirs = await judgedByGit(repository, pack)
  return String(theirs) === String(await writtenByUs(repository, ours)) ? 'agreed' : 'differs'
}

async function repositoryWith() {
  const text = 'Some words that stay the same.\n'.repeat(30)
  const repository = await buildRepository({ files: { 'a.txt': text, 'b/c.txt': 'c\n', '.gitattributes': '* text\n' } })
  const id = async (name: string) => (await repository.git('rev-parse', name)).trim()
  const old = blob(text)
  const oldTree = await id('HEAD^{tree}')
  return {
    repository,
    head: await id('HEAD'),
    text,
    old: { id: idIn(old), content: old.content },
    tree: oldTree,
    folder: await id('HEAD:b'),
    attributes: await id('HEAD:.gitattributes'),
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  }
}

type World = Awaited<ReturnType<typeof repositoryWith>>

/** A commit as most pushes bring it: a changed file as a thin delta, its tree, the commit. */
function usual({ head, text, old, folder, attributes }: World, more = 'One line more.\n'): Part[] {
  const changed: Part = { ...blob(text + more), base: old }
  const root = tree(
    ['100644', '.gitattributes', attributes],
    ['100644', 'a.txt', idIn(changed)],
    ['40000', 'b', folder],
  )
  return [commit(idIn(root), [head]), root, changed]
}

test('what most pushes bring is accepted without git, with the index that git would write', async () => {
  await using world = await repositoryWith()
  const { repository, head, old, tree: oldTree } = world
  const sound: Record<string, Part[]> = {
    'a thin delta': usual(world),
    'a commit alone': [commit(oldTree, [head])],
    'a signed commit of two parents': [commit(oldTree, [head, head], 'x\n')].map(({ content, type }) => ({
      type,
      content: Buffer.from(content.toString().replace('\n\n', '\ngpgsig -----BEGIN\n x\n \n -----END\n\n')),
    })),
    'a first commit': [commit(idIn(tree(['100644', 'a', old.id]))), tree(['100644', 'a', old.id])],
    'a chain of deltas': (() => {
      const [one, two, three] = [blob('a'.repeat(500)), blob('a'.repeat(600)), blob('a'.repeat(700))]
      return [one, { ...two, base: 0 }, { ...three, base: 1 }]
    })(),
    'a delta before its base': (() => {
      const [one, two] = [blob('a'.repeat(500)), blob('a'.repeat(600))]
      return [{ ...two, base: { id: idIn(one), content: one.content } }, one]
    })(),
    'an empty file': [blob('')],
  }
  for (const [what, parts] of Object.entries(sound))
    expect.soft([what, await compare(repository, packOf(parts))]).toEqual([what, 'agreed'])
})

test('hostile packs are left to git', async () => {
  await using world = await repositoryWith()
  const { repository, head, old, folder, tree: oldTree } = world
  const none = 'ab'.repeat(20)
  const good = packOf(usual(world))
  const [a, b] = [blob('aaa'), blob('bbb')]
  const named = (mode: string, name: string) => [tree([mode, name, mode === '40000' ? folder : old.id])]
  const hostile: Record<string, Part[] | Buffer> = {
    'a missing parent': [commit(oldTree, [none])],
    'a missing tree': [commit(none, [head])],
    'a missing file': [tree(['100644', 'a', none])],
    'a file for a tree': [commit(old.id, [head])],
    'a tree for a file': [tree(['100644', 'a', folder])],
    'a file for a folder': [tree(['40000', 'a', old.id])],
    'a missing base': [{ ...a, base: { id: none, content: b.content } }],
    'bases in a circle': [
      { ...a, base: { id: idIn(b), content: b.content } },
      { ...b, base: { id: idIn(a), content: a.content } },
    ],
    'a base in itself': [{ ...a, base: 0 }],
    'a base of another length': [{ ...a, base: { id: old.id, content: Buffer.from('short') } }],
    'an object twice': [a, a],
    'an object that is there': [{ type: 'blob', content: old.content }],
    'a huge size': [{ ...a, size: 2 ** 40 }],
    'a size too small': [{ ...a, size: 2 }],
    'a size too large': [{ ...a, size: 4 }],
    'a bomb': [{ ...a, size: 3, packed: deflateSync(Buffer.alloc(50_000_000)) }],
    'many bombs': Array.from({ length: 90 }, (_, n) => blob(Buffer.alloc(1_000_000, n))),
    'an unfinished stream': [{ ...a, packed: deflateSync(Buffer.from('aaa')).subarray(0, 5) }],
    'a wrong sum of a stream': [
      {
        ...a,
        packed: Buffer.from(deflateSync(Buffer.from('aaa')).map((x, n, all) => (n === all.length - 1 ? x ^ 1 : x))),
      },
    ],
    'an order that git does not use': [tree(['100644', 'b', old.id], ['100644', 'a', old.id])],
    'a folder ordered as a file': [tree(['40000', 'a', folder], ['100644', 'a.b', old.id])],
    'a name twice': [tree(['100644', 'a', old.id], ['100644', 'a', old.id])],
    'a name of a file and a folder': [tree(['100644', 'a', old.id], ['100644', 'a.b', old.id], ['40000', 'a', folder])],
    'a tree cut off': [{ type: 'tree', content: tree(['100644', 'a', old.id]).content.subarray(0, -1) }],
    'a date with a zero': [commit(oldTree, [head], 'x', 'A <a@example.com> 0170 +0000')],
    'a date without an end': [commit(oldTree, [head], 'x', `A <a@example.com> ${'9'.repeat(30)} +0000`)],
    'no address': [commit(oldTree, [head], 'x', 'A 1700000000 +0000')],
    'a zero in a message': [commit(oldTree, [head], 'a\0b')],
    'two authors': [commit(oldTree, [head], 'x', `${BY}\nauthor ${BY}`)],
    'no message': [{ type: 'commit', content: Buffer.from(`tree ${oldTree}\nauthor ${BY}\ncommitter ${BY}\n`) }],
    'a tag': [{ type: 'tag', content: Buffer.from(`object ${head}\ntype commit\ntag v\ntagger ${BY}\n\nx\n`) }],
    'attributes with a long line': (() => {
      const long = blob(`${'a'.repeat(3000)} text\n`)
      return [long, tree(['100644', '.gitattributes', idIn(long)])]
    })(),
    'bytes that are not text': [blob(Buffer.from([0xff, 0x80]))],
    'another version': packOf([a], { version: 4 }),
    'more objects than entries': packOf([a], { count: 2 }),
    'more entries than objects': packOf([a, b], { count: 1 }),
    'bytes after the entries': packOf([a], { after: Buffer.from('x') }),
    'bytes after the pack': Buffer.concat([good, Buffer.from('x')]),
    'a pack cut off': good.subarray(0, -1),
    'no end': good.subarray(0, -20),
    'a wrong checksum': Buffer.concat([good.subarray(0, -1), Buffer.from([good.at(-1)! ^ 1])]),
    'no pack': Buffer.alloc(0),
    ...Object.fromEntries(
      [
        '',
        '.',
        '..',
        '.git',
        '.GIT',
        '.git ',
        '.git.',
        'git~1',
        'GIT~2',
        '.g\u00efit',
        '.git\u00ff',
        'a/b',
        'a\\b',
        '.git:x',
      ].map((name) => [`a folder ${name}`, named('40000', name)]),
    ),
    ...Object.fromEntries(
      ['.gitmodules', '.GITMODULES', 'gitmod~1', 'gi7eba~1', '.gitmodules ', '.g\u00e2\u0080\u008citmodules'].map(
        (name) => [`a file ${name}`, named('100644', name)],
      ),
    ),
    ...Object.fromEntries(
      ['.gitattributes', '.gitignore', '.mailmap'].map((name) => [`a link ${name}`, named('120000', name)]),
    ),
    ...Object.fromEntries(
      ['100664', '0100644', '040000', '160000', '777', '', 'x'].map((mode) => [`mode ${mode}`, named(mode, 'a')]),
    ),
  }
  for (const [what, parts] of Object.entries(hostile)) {
    const pack = Buffer.isBuffer(parts) ? parts : packOf(parts)
    expect.soft([what, await checkPack(repository.dir, pack)]).toEqual([what, null])
  }
})

/** A generator of numbers below a limit, the same for each seed. */
function dice(seed: number) {
  let state = seed * 2654435761
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const NAMES = [
  'a',
  'b',
  'a.b',
  'A',
  '.git',
  '.gitignore',
  '.gitmodules',
  'x y',
  'git~1',
  '-',
  'a~',
  '.a',
  'z'.repeat(256),
]
const MODES = ['100644', '100755', '40000', '120000', '160000', '100664']
const PEOPLE = [
  BY,
  ' <> 0 +0000',
  'A <a@b> 1 -9999',
  'A<a> 1 +0000',
  'A B <a <b> 1 +0000',
  'A <a>  1 +0000',
  '<a> 1 +0000',
]

/** Parts that are mostly sound, with a few faults. */
function randomParts(world: World, roll: (below: number) => number): Part[] {
  const pick = <T>(values: readonly T[]) => values[roll(values.length)]!
  const parts: Part[] = roll(2) === 0 ? usual(world, `${roll(1e9)}\n`) : []
  const ids = (type: Type, known: string[]) => [...known, ...parts.filter((part) => part.type === type).map(idIn)]
  for (let n = roll(6); n >= 0; n--) {
    const kind = pick(['blob', 'blob', 'tree', 'tree', 'commit'] as const)
    if (kind === 'blob') {
      const content = world.text.slice(0, roll(400)) + String(roll(1e9)).repeat(roll(9))
      const below = parts.findLastIndex(({ type }) => type === 'blob')
      const base = pick([undefined, world.old, below < 0 ? world.old : below])
      parts.push({ ...blob(content), ...(base !== undefined && { base }) })
    } else if (kind === 'tree') {
      const entries = Array.from({ length: roll(5) }, (): [string, string, string] => {
        const mode = roll(8) === 0 ? pick(MODES) : pick(MODES.slice(0, 3))
        const isFolder = mode === '40000'
        const id = isFolder ? pick(ids('tree', [world.tree, world.folder])) : pick(ids('blob', [world.old.id]))
        return [mode, roll(12) === 0 ? pick(NAMES) : `${pick(['a', 'b', 'f.'])}${roll(30)}`, id]
      })
      const keyOf = ([mode, name]: [string, string, string]) => (mode === '40000' ? `${name}/` : name)
      parts.push(tree(...(roll(9) === 0 ? entries : entries.toSorted((x, y) => (keyOf(x) < keyOf(y) ? -1 : 1)))))
    } else {
      const parents = Array.from({ length: roll(3) }, () => pick(ids('commit', [world.head])))
      const by = roll(8) === 0 ? pick(PEOPLE) : BY
      parts.push(commit(pick(ids('tree', [world.tree])), parents, pick(['', 'x', 'x\n\ny\n', `${roll(1e9)}`]), by))
    }
  }
  return parts
}

/** Changes a byte of an object, of the pack with its sum made right, or nothing. */
function spoiled(parts: readonly Part[], roll: (below: number) => number): Buffer {
  const change = (bytes: Buffer) => {
    const changed = Buffer.from(bytes)
    if (changed.length > 0) changed[roll(changed.length)]! ^= 1 << roll(7)
    return changed
  }
  switch (roll(4)) {
    case 0: {
      const at = roll(parts.length)
      return packOf(parts.map((part, n) => (n === at ? { ...part, content: change(part.content) } : part)))
    }
    case 1: {
      return signed(change(packOf(parts).subarray(0, -20)))
    }
    default: {
      return packOf(parts)
    }
  }
}

const SEEDS = Number(process.env.MORTISE_FUZZ_SEEDS ?? 60)

test('random packs are accepted only if git accepts them, with the same objects', async () => {
  await using world = await repositoryWith()
  const found: Record<string, number[]> = { agreed: [], differs: [], null: [] }
  for (let seed = 1; seed <= SEEDS; seed++) {
    const roll = dice(seed)
    const pack = spoiled(randomParts(world, roll), roll)
    found[String(await compare(world.repository, pack))]!.push(seed)
  }
  expect(found.differs).toEqual([])
  // Otherwise nothing was compared.
  expect(found.agreed!.length).toBeGreaterThan(SEEDS / 5)
})
