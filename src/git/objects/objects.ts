/**
 * Reads objects by name, many at once and without a process for each. A name is any revision of one object that a user
 * may write: a full or short id, a branch, `v1.0~3`. An unsafe or unknown name gives null, never an error. Memory never
 * holds an object above the caller's limit.
 */
import { Readable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { rev, safely } from '../process/arguments.ts'
import { gitStream } from '../process/command.ts'
import { askAlone, askShared, type Ask } from '../process/readers.ts'
import { Memory } from './memory.ts'

export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface ObjectInfo {
  readonly id: string
  readonly type: ObjectType
  readonly size: number
}

export interface GitObject extends ObjectInfo {
  /** Null if the object exceeds the limit. */
  readonly content: Buffer | null
}

/** Objects in quarantine, which only this caller may see. A separate process reads them. */
export interface QuarantineOptions {
  readonly environment?: Readonly<Record<string, string>> | undefined
}

export interface ObjectOptions extends QuarantineOptions {
  /** Follows tags, and commits for a tree, to this type. Null if the name leads to another type. */
  readonly as?: 'commit' | 'tree'
}

export interface ReadOptions extends ObjectOptions {
  /** The limit of one object. */
  readonly maxBytes?: number
  /** The limit of all objects together. Objects that do not fit come without their content. */
  readonly maxTotal?: number
}

const MAX_BYTES = 16 * 1024 * 1024
const MAX_TOTAL = 64 * 1024 * 1024
/** Up to this size a blob is read at once, because a process costs more. */
const SMALL = 256 * 1024

export async function objectInfo(dir: string, name: string, options?: ObjectOptions): Promise<ObjectInfo | null> {
  return (await objectInfos(dir, [name], options))[0] ?? null
}

/** In the order of the names. */
export function objectInfos(
  dir: string,
  names: readonly string[],
  options: ObjectOptions = {},
): Promise<(ObjectInfo | null)[]> {
  return asking(dir, options, (ask) => infosBy(ask, names, options))
}

export async function readObject(dir: string, name: string, options?: ReadOptions): Promise<GitObject | null> {
  return (await readObjects(dir, [name], options))[0] ?? null
}

/** In the order of the names. */
export function readObjects(
  dir: string,
  names: readonly string[],
  options: ReadOptions = {},
): Promise<(GitObject | null)[]> {
  return asking(dir, options, async (ask) => contentsBy(ask, await infosBy(ask, names, options), options))
}

/**
 * Passes each object on as it is read, so that only a few large objects are in memory. `begin` gets their sizes and
 * returns the function that reads one.
 */
export function mapObjects<T>(
  dir: string,
  names: readonly string[],
  options: ReadOptions,
  begin: (infos: readonly (ObjectInfo | null)[]) => (object: GitObject) => T | Promise<T>,
): Promise<(T | null)[]> {
  return asking(dir, options, async (ask) => {
    const infos = await infosBy(ask, names, options)
    const read = begin(infos)
    const values: (T | null)[] = []
    for (const some of portionsOf(infos, options))
      for (const object of await contentsBy(ask, some, options)) values.push(object && (await read(object)))
    return values
  })
}

/** Groups neighbors that fit into the limit of one read. */
function portionsOf(
  infos: readonly (ObjectInfo | null)[],
  { maxBytes = MAX_BYTES, maxTotal = MAX_TOTAL }: ReadOptions,
): (ObjectInfo | null)[][] {
  const portions: (ObjectInfo | null)[][] = [[]]
  let total = 0
  for (const info of infos) {
    const size = info && info.size <= maxBytes ? info.size : 0
    if (total + size > maxTotal) {
      portions.push([])
      total = 0
    }
    portions.at(-1)!.push(info)
    total += size
  }
  return portions
}

const remembered = new Memory<GitObject>('git objects', ({ size }) => size)

/** By full ids that other objects of the repository reference. Small objects are cached. */
export async function readKnown(
  dir: string,
  ids: readonly string[],
  options: ReadOptions = {},
): Promise<(GitObject | null)[]> {
  if (options.environment) return readObjects(dir, ids, options)
  const known = ids.map((id) => remembered.get(dir, id))
  const unknown = ids.filter((_, n) => !known[n])
  const read = unknown.length === 0 ? [] : await readObjects(dir, unknown, options)
  for (const object of read) if (object?.content && object.size <= SMALL) remembered.set(dir, object.id, own(object))
  const rest = read.values()
  const { maxBytes = MAX_BYTES } = options
  return known.map((object) => {
    if (!object) return rest.next().value ?? null
    return object.size > maxBytes ? { ...object, content: null } : object
  })
}

/** Copies the bytes, because a slice would keep the whole buffer of the reader in memory. */
function own({ id, type, size, content }: GitObject): GitObject {
  const copy = Buffer.allocUnsafeSlow(size)
  content!.copy(copy)
  return { id, type, size, content: copy }
}

export interface OpenBlob {
  readonly id: string
  readonly size: number
  /** Destroy a stream that is not read to its end. */
  readonly stream: Readable
}

/** Streams content of any size, only as fast as the reader takes it. */
export async function openBlob(
  dir: string,
  name: string,
  { signal, ...options }: QuarantineOptions & { signal?: AbortSignal } = {},
): Promise<OpenBlob | null> {
  const blob = await readObject(dir, name, { ...options, maxBytes: SMALL })
  if (blob?.type !== 'blob') return null
  const { id, size, content } = blob
  const stream = content
    ? Readable.from([content], { objectMode: false })
    : gitStream(dir, ['cat-file', 'blob', rev(id)], { ...options, signal, deadline: HOUR })
  return { id, size, stream }
}

/** The first bytes of an object that is too large to read completely. */
export async function readStart(
  dir: string,
  { id, type }: ObjectInfo,
  bytes: number,
  { environment }: QuarantineOptions = {},
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of gitStream(dir, ['cat-file', type, rev(id)], { environment }) as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= bytes) break
  }
  return Buffer.concat(chunks).subarray(0, bytes)
}

function asking<T>(dir: string, { environment }: ObjectOptions, use: (ask: Ask) => Promise<T>): Promise<T> {
  return environment ? askAlone(dir, environment, use) : use((questions) => askShared(dir, questions))
}

async function contentsBy(
  ask: Ask,
  infos: readonly (ObjectInfo | null)[],
  { maxBytes = MAX_BYTES, maxTotal = MAX_TOTAL }: ReadOptions,
): Promise<(GitObject | null)[]> {
  let total = 0
  const fits = (info: ObjectInfo | null) => {
    if (!info || info.size > maxBytes || total + info.size > maxTotal) return false
    total += info.size
    return true
  }
  const fitting = infos.map(fits)
  const ids = infos.filter((_, n) => fitting[n])
  const found = (await ask(ids.map((info) => ({ verb: 'contents', name: info!.id })))).values()
  return infos.map((info, n) => {
    const content = fitting[n] ? (found.next().value?.content ?? null) : null
    return info && { ...info, content }
  })
}

async function infosBy(ask: Ask, names: readonly string[], { as }: ObjectOptions): Promise<(ObjectInfo | null)[]> {
  const safe = names.map((name) => safely(() => rev(name)))
  const requested = safe.filter((name) => name !== null)
  const answers = (await ask(requested.map((name) => ({ verb: 'info', name: as ? `${name}^{${as}}` : name })))).values()
  return safe.map((name) => {
    const answer = name === null ? null : answers.next().value
    return answer ? { id: answer.id, type: answer.type as ObjectType, size: answer.size } : null
  })
}
