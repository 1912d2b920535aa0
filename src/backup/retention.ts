/** Removes manifests that are older than the retention, and the objects that no other manifest needs. */
import { DAY } from '../clock.ts'
import type { Archive } from './archive.ts'
import {
  hasBuckets,
  imageList,
  momentContent,
  parseManifest,
  repositoryRecord,
  blobList,
  type DatabasePart,
  type MomentContent,
  type RepositoryRecord,
} from './manifest.ts'

/** A backup that is being made has stored objects that no manifest names yet. */
const YOUNG = DAY

export interface Pruned {
  readonly manifests: number
  readonly objects: number
}

/** The newest manifest always stays. */
export async function pruneArchive(archive: Archive, keptSince: Date): Promise<Pruned> {
  const names = await archive.manifestNames()
  const old: string[] = []
  const needed = new Set<string>()
  const objects = new NeededObjects(archive, needed)
  for (const [n, name] of names.entries()) {
    const { moments } = parseManifest(name, await archive.readManifest(name))
    if (n < names.length - 1 && new Date(moments.at(-1)!.time) < keptSince) old.push(name)
    else for (const { content } of moments) await objects.addMoment(content)
  }
  if (old.length === 0) return { manifests: 0, objects: 0 }
  for (const name of old) await archive.removeManifest(name)
  let removed = 0
  const before = new Date(Date.now() - YOUNG)
  for await (const { digest, modified } of archive.list()) {
    if (needed.has(digest) || modified >= before) continue
    await archive.objects.remove(digest)
    removed++
  }
  return { manifests: old.length, objects: removed }
}

/** Each object is read once, however many moments name it. */
class NeededObjects {
  readonly #archive: Archive
  readonly #needed: Set<string>

  constructor(archive: Archive, needed: Set<string>) {
    this.#archive = archive
    this.#needed = needed
  }

  async addMoment(digest: string): Promise<void> {
    if (!this.#isNew(digest)) return
    const content: MomentContent = await this.#archive.readJson(digest, momentContent)
    await this.#addDatabase(content.database)
    for (const record of Object.values(content.repositories)) if (record !== null) await this.#addRepository(record)
    for (const list of content.blobs)
      if (this.#isNew(list)) for (const blob of await this.#archive.readJson(list, blobList)) this.#needed.add(blob)
  }

  #isNew(digest: string): boolean {
    const isNew = !this.#needed.has(digest)
    this.#needed.add(digest)
    return isNew
  }

  async #addDatabase(part: DatabasePart): Promise<void> {
    if ('tables' in part) {
      for (const digest of Object.values(part.tables).flat()) this.#needed.add(digest)
      return
    }
    for (const digest of part.delta ?? []) this.#needed.add(digest)
    if (part.image !== undefined && this.#isNew(part.image))
      for (const [, object] of (await this.#archive.readJson(part.image, imageList)).chunks) this.#needed.add(object)
  }

  async #addRepository(digest: string): Promise<void> {
    if (!this.#isNew(digest)) return
    const { packs, refs, withheld }: RepositoryRecord = await this.#archive.readJson(digest, repositoryRecord)
    for (const bucket of hasBuckets(refs) ? refs.buckets : []) this.#needed.add(bucket)
    const files = [...packs.flatMap(({ files }) => Object.values(files)), ...(withheld ? [withheld] : [])]
    for (const part of files.flatMap(({ parts }) => parts)) this.#needed.add(part)
  }
}
