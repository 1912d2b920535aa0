/** A Git LFS client reduced to its requests, for tests that check each of them. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client, TestForge } from '../src/forge.ts'

export const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`

/** The git authorization for the token of an API client. */
export const authorizationOf = ({ headers }: Client): string | undefined =>
  headers['PRIVATE-TOKEN'] === undefined ? undefined : basic('any', headers['PRIVATE-TOKEN'])

export interface LfsObject {
  readonly oid: string
  readonly size: number
  readonly content: Uint8Array
}

export function objectOf(text: string): LfsObject {
  const content = Buffer.from(text)
  return { oid: createHash('sha256').update(content).digest('hex'), size: content.length, content }
}

// oxlint-disable-next-line no-explicit-any -- a test reads the answer's body as it expects it
type AnyBody = any

export interface LfsReply {
  readonly status: number
  readonly headers: Headers
  readonly body: AnyBody
}

export class LfsClient {
  readonly url: string
  readonly authorization: string | undefined

  constructor(forge: TestForge, path: string, authorization?: string) {
    this.url = `${forge.url}/${path}.git`
    this.authorization = authorization
  }

  async request(method: string, path: string, body?: object | Uint8Array, headers = {}): Promise<LfsReply> {
    const isRaw = body instanceof Uint8Array
    const answer = await fetch(path.startsWith('http') ? path : `${this.url}/${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.authorization !== undefined && { Authorization: this.authorization }),
        ...(body && { 'Content-Type': isRaw ? 'application/octet-stream' : 'application/vnd.git-lfs+json' }),
        ...headers,
      },
      ...(body && { body: isRaw ? Uint8Array.from(body) : JSON.stringify(body) }),
    })
    const text = await answer.text()
    const isJson = answer.headers.get('content-type')?.includes('json')
    return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text }
  }

  get(path: string, headers = {}): Promise<LfsReply> {
    return this.request('GET', path, undefined, headers)
  }
  post(path: string, body: object): Promise<LfsReply> {
    return this.request('POST', path, body)
  }
  batch(operation: string, ...objects: Pick<LfsObject, 'oid' | 'size'>[]): Promise<LfsReply> {
    return this.post('info/lfs/objects/batch', {
      operation,
      transfers: ['basic'],
      objects: objects.map(({ oid, size }) => ({ oid, size })),
    })
  }
  /** Directly to the upload URL, requested or not. */
  put({ oid, size, content }: LfsObject): Promise<LfsReply> {
    return this.request('PUT', `gitlab-lfs/objects/${oid}/${size}`, content)
  }
  content({ oid }: Pick<LfsObject, 'oid'>, headers = {}): Promise<LfsReply> {
    return this.get(`gitlab-lfs/objects/${oid}`, headers)
  }
}

/** The state that a rejected request must not change. */
export async function lfsStateOf({ app }: TestForge): Promise<unknown> {
  const { db } = app
  const files = await readdir(join(app.config.data, 'blobs'), { recursive: true }).catch(() => [])
  return {
    objects: await db.selectFrom('lfs_objects').selectAll().orderBy('id').execute(),
    links: await db
      .selectFrom('lfs_object_projects')
      .selectAll()
      .orderBy('project_id')
      .orderBy('lfs_object_id')
      .execute(),
    locks: await db.selectFrom('lfs_locks').selectAll().orderBy('id').execute(),
    sizes: await db.selectFrom('projects').select(['id', 'lfs_objects_size']).orderBy('id').execute(),
    blobs: files.filter((name) => /[0-9a-f]{62}$/.test(name) || name.startsWith('drafts/')).sort(),
  }
}
