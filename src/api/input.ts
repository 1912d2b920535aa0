/**
 * Reads the input of a request: path, query, form, multipart and JSON are merged into one record of plain values and
 * parsed by the schemas of the endpoint. The body overrides the query, and the path overrides both, so an id in a body
 * never redirects a route.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { z } from 'zod'
import { Refusal, badParameter } from '../errors.ts'
import { MalformedParams, nestParams, parseParams } from './params.ts'
import { isSystemError } from '../lib/files/system-errors.ts'
import { tooLong } from '../lib/text/faults.ts'
import { brokenRules, type Faults } from './rules.ts'
import { SpooledUpload } from './wire.ts'

const MB = 1024 * 1024
const DEEPEST = 20
/** One more than the deepest value, because the body itself is a value. */
const MOST_BRACKETS = DEEPEST + 1
/** Values in one JSON body: as many as the largest commit needs. */
const MOST_VALUES = 500_000
/** Names in one object of a JSON body: as many as in a form. */
const MOST_NAMES = 1000

/** How much of a body is read before it is rejected, and for how long. */
export interface BodyLimits {
  /** Bytes of all fields together, or of the JSON. */
  readonly fields: number
  /** Bytes of a file part. */
  readonly file: number
  /** Milliseconds. */
  readonly deadline: number
}

/** For callers who are not authenticated (yet). */
export const STRANGERS_BODY: BodyLimits = { fields: 64 * 1024, file: 0, deadline: 60_000 }
/** For authenticated callers; an endpoint that takes more declares it. */
export const KNOWN_BODY: BodyLimits = { fields: 2 * MB, file: MB, deadline: 300_000 }

export type Raw = Record<string, unknown>

export function readQuery(url: string): Raw {
  const at = url.indexOf('?')
  return at < 0 ? {} : decode(url.slice(at + 1))
}

const decode = (text: string): Raw => unlessMalformed(() => parseParams(text))

function unlessMalformed(parse: () => Raw): Raw {
  try {
    return parse()
  } catch (error) {
    if (error instanceof MalformedParams) throw badParameter('400 Bad Request')
    throw error
  }
}

export const isMultipart = (request: IncomingMessage): boolean =>
  /^multipart\/form-data/i.test(request.headers['content-type'] ?? '')

export interface Body {
  readonly fields: Raw
  /** Deletes the temporary files. */
  discard(): Promise<void>
}

const NO_BODY: Body = { fields: {}, discard: async () => {} }

export async function readBody(request: IncomingMessage, spool: string, limits: BodyLimits): Promise<Body> {
  const { 'content-length': length, 'transfer-encoding': chunked, 'content-type': type = '' } = request.headers
  if ((!length || length === '0') && !chunked) return NO_BODY
  // The timeout of the server is made for pushes, which may take hours.
  const late = setTimeout(() => request.destroy(), limits.deadline)
  request.once('close', () => clearTimeout(late)).once('end', () => clearTimeout(late))
  if (isMultipart(request)) return readMultipart(request, spool, limits)

  const text = utf8(await collect(request, limits.fields))
  if (/^application\/x-www-form-urlencoded/i.test(type)) return { ...NO_BODY, fields: decode(text) }
  if (text.trim() === '') return NO_BODY
  if (/^application\/([\w.+-]*\+)?json/i.test(type)) return { ...NO_BODY, fields: jsonObject(text) }
  // Clients that send no content type, or a wrong one, still send one of the two forms.
  return { ...NO_BODY, fields: /^\s*[[{]/.test(text) ? jsonObject(text) : decode(text) }
}

/** Keeps reading beyond the limit without storing: the connection must stay open for the error answer. */
function collect(request: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) return void chunks.push(chunk)
      chunks.length = 0
      reject(new Refusal('too_large'))
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('close', () => request.readableEnded || reject(badFormat()))
    request.on('error', () => reject(badFormat()))
  })
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badFormat()
  }
}

const badFormat = () => badParameter('message body does not match declared format')

function jsonObject(text: string): Raw {
  assertModest(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw badFormat()
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw badFormat()
  return value as Raw
}

const [QUOTE, COMMA, COLON, BACKSLASH, OPENING, OPENING_BRACE, CLOSING, CLOSING_BRACE] = [
  34, 44, 58, 92, 91, 123, 93, 125,
]

/** Runs before parsing: megabytes of brackets or names would keep the parser busy for long. */
function assertModest(json: string): void {
  let depth = 0
  let values = 1
  let name = ''
  /** The number of names per open object, innermost last. */
  const names = [0]
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(json, at)
      if (depth === 1) name = json.slice(at + 1, end)
      at = end
    } else if (code === COMMA) values++
    else if (code === COLON) names[depth]!++
    else if (code === OPENING || code === OPENING_BRACE) names[++depth] = 0
    else if (code === CLOSING || code === CLOSING_BRACE) depth = Math.max(0, depth - 1)
    if (depth > MOST_BRACKETS) throw badParameter(`${name.slice(0, 100).replace(/[^\w.-]/g, '')} is invalid`)
    if (values > MOST_VALUES || names[depth]! > MOST_NAMES) throw badFormat()
  }
}

function endOfString(json: string, start: number): number {
  let at = start + 1
  for (let code; at < json.length && (code = json.charCodeAt(at)) !== QUOTE; at++) if (code === BACKSLASH) at++
  return at
}

async function readMultipart(
  request: IncomingMessage,
  spool: string,
  { fields: most, file }: BodyLimits,
): Promise<Body> {
  const folder = join(spool, randomUUID())
  const discard = () => rm(folder, { recursive: true, force: true })
  const pairs: [name: string, value: string][] = []
  let fieldBytes = 0
  const files: [string, Promise<SpooledUpload>][] = []
  const { promise: parsed, resolve, reject } = Promise.withResolvers<void>()
  try {
    await mkdir(folder, { recursive: true })
    const parser = new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { fieldSize: most, fields: 1000, files: 10, fileSize: file, parts: 1010 },
    })
    parser.on('field', (name, value, _nameCut, cut) => {
      fieldBytes += name.length + value.length
      if (cut || fieldBytes > most) reject(new Refusal('too_large'))
      else pairs.push([name.toWellFormed(), value.toWellFormed()])
    })
    parser.on('file', (name, stream, filename, _encoding, type) => {
      stream.on('limit', () => reject(new Refusal('too_large')))
      // Without its own listener, an error of an interrupted part would end the process.
      stream.on('error', reject)
      const spooled = spoolFile(stream, folder, { filename: filename ?? '', type })
      files.push([name, spooled])
      spooled.catch(reject)
    })
    for (const limit of ['partsLimit', 'fieldsLimit', 'filesLimit'] as const)
      parser.on(limit, () => reject(badFormat()))
    parser.on('error', reject)
    parser.on('finish', resolve)
    // Not a pipeline, which would close the connection with a rejected body, before the error answer is sent.
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > most + file) reject(new Refusal('too_large'))
    })
    request.on('aborted', () => reject(badFormat()))
    request.pipe(parser)
    await parsed.finally(() => request.unpipe(parser).resume())
    const fields = unlessMalformed(() => nestParams(pairs))
    for (const [name, upload] of files) fields[name] = await upload
    return { fields, discard }
  } catch (error) {
    for (const [, upload] of files) upload.catch(() => {})
    await discard()
    // A full disk is not an error of the body.
    throw error instanceof Refusal || isSystemError(error) ? error : badFormat()
  }
}

async function spoolFile(
  stream: NodeJS.ReadableStream,
  folder: string,
  { filename, type }: { filename: string; type: string },
): Promise<SpooledUpload> {
  const path = join(folder, randomUUID())
  const sink = createWriteStream(path)
  await pipeline(stream, sink)
  return new SpooledUpload({ filename, type, path, size: sink.bytesWritten })
}

/** The store and file names cannot contain NUL and lone surrogates; deep nesting has no legitimate use. */
export function assertPlain(raw: Raw): void {
  for (const name in raw) if (!isPlain(raw[name], 0)) throw badParameter(`${name.replaceAll('\0', '')} is invalid`)
}

function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value !== 'object' || value === null || value instanceof SpooledUpload) return true
  if (depth >= DEEPEST) return false
  // `Object.entries` of an array as large as a body would cost seconds and hundreds of megabytes.
  if (Array.isArray(value)) return value.every((inner) => isPlain(inner, depth + 1))
  for (const key in value) if (!isPlain(key, depth) || !isPlain((value as Raw)[key], depth + 1)) return false
  return true
}

/** A blank parameter counts as absent. */
export function assertServed(refused: readonly string[] | undefined, raw: Raw): void {
  const given = refused?.filter((name) => (raw[name] ?? '') !== '') ?? []
  if (given.length > 0) throw badParameter(given.map((name) => `${name} is not supported`).join(', '))
}

interface Complaints {
  readonly missing: Set<string>
  readonly other: Set<string>
}

/** More errors would not help the caller. */
const MOST_COMPLAINTS = 100

const NOTHING: Raw = Object.freeze({})

/**
 * Most requests use none of the many filters of a list, so the result of parsing an empty input is cached per schema.
 */
const ofNothing = new WeakMap<z.ZodObject, { readonly names: ReadonlySet<string>; readonly value: Raw | null }>()

function parsedOfNothing(schema: z.ZodObject, raw: Raw): Raw | null {
  let known = ofNothing.get(schema)
  if (!known) {
    const parsed = schema.def.catchall ? null : schema.safeParse({})
    known = { names: new Set(Object.keys(schema.shape)), value: parsed?.success ? (parsed.data as Raw) : null }
    ofNothing.set(schema, known)
  }
  const { names, value } = known
  if (value === null) return null
  for (const name in raw) if (names.has(name)) return null
  return { ...value }
}

export interface ParsedInput {
  /** The values of each schema; empty for a schema with a broken rule. */
  readonly parts: Raw[]
  /** Broken rules of the record, to be answered after the checks of the caller. */
  readonly faults: Faults
}

/** Parses with each schema. Rejects with all missing parameters, or else with all other errors than broken rules. */
export function parseInput(schemas: readonly (z.ZodObject | undefined)[], raw: Raw): ParsedInput {
  const complaints: Complaints = { missing: new Set(), other: new Set() }
  const faults: Faults = {}
  const parts = schemas.map((schema) => {
    if (!schema) return NOTHING
    const empty = parsedOfNothing(schema, raw)
    if (empty) return empty
    const { data, error } = schema.safeParse(raw)
    if (!error) return data as Raw
    const found = brokenRules(error.issues)
    for (const issue of found.others.slice(0, MOST_COMPLAINTS)) complain(complaints, issue, raw)
    Object.assign(faults, found.faults)
    return NOTHING
  })
  const missing = [...complaints.missing]
  const other = [...complaints.other]
  if (missing.length > 0) {
    throw new Refusal('bad_request', `400 (Bad request) ${missing.join(', ')} not given`, {
      error: missing.map((name) => `${name} is missing`).join(', '),
    })
  }
  if (other.length > 0) throw badParameter(other.join(', '))
  return { parts, faults }
}

function complain({ missing, other }: Complaints, issue: z.core.$ZodIssue, raw: Raw): void {
  // An error in an item of a plain list is reported for the list.
  const path = issue.path.slice(0, issue.path.findLastIndex((key) => typeof key !== 'number') + 1).map(String)
  const [name, ...inner] = path
  if (name === undefined) return void other.add(issue.message)
  const attribute = name + inner.map((key) => `[${key}]`).join('')
  const given = path.reduce<unknown>((value, key) => (value as Raw | null | undefined)?.[key], raw)
  if (given === undefined) return void missing.add(attribute)
  other.add(`${attribute} ${faultOf(issue)}`)
}

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big' && issue.origin === 'string') {
    return tooLong(Number(issue.maximum))
  }
  if (issue.code === 'invalid_value') return 'does not have a valid value'
  return issue.code === 'custom' && issue.params?.empty ? 'is empty' : 'is invalid'
}
