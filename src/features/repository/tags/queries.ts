import { child } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { findTag, listTags, type Listed, type RefsOptions, type Tag } from '../../../git/refs/refs.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { localTime } from '../../../lib/time/local-time.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { findProtection } from '../protected-branches/queries.ts'
import { notesOf } from '../releases/queries.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { repository } from '../repositories/queries.ts'
import type { LoadedTag, TagSurroundings } from './entity.ts'

/** A project that is still being imported has no repository yet, so it has no tags. */
export async function findLoadedTag(dir: string, name: string): Promise<LoadedTag | null> {
  const tag = (await repositoryExists(dir)) ? await findTag(dir, name) : null
  return tag && ((await withCommits(dir, [tag]))[0] ?? null)
}

export async function listLoadedTags(dir: string, input: RefsOptions): Promise<Listed<LoadedTag>> {
  const { items, total } = await listTags(dir, input)
  return { items: await withCommits(dir, items), total }
}

async function withCommits(dir: string, tags: readonly Tag[]): Promise<LoadedTag[]> {
  const ids = [...new Set(tags.map(({ commit }) => commit))].filter((id) => id !== null)
  const commits = await findCommits(dir, ids)
  const byId = new Map(ids.map((id, n) => [id, commits[n] ?? null]))
  return tags.map((tag) => ({
    ...tag,
    commit: byId.get(tag.commit ?? '') ?? null,
    created_at: tag.annotation?.tagger ? localTime(tag.annotation.tagger) : null,
  }))
}

export const tag = child(repository, {
  name: 'Tag',
  key: 'tag',
  params: { tag_name: text },
  find: (_app, { dir }, { tag_name }) => findLoadedTag(dir, tag_name),
})

/** Loads everything that the records of these tags show beyond git's refs, for all tags at once. */
export async function aroundTags(
  app: App,
  { project, namespace }: RepositorySubject,
  tags: readonly LoadedTag[],
): Promise<TagSurroundings> {
  const names = tags.map(({ name }) => name)
  return {
    url: webUrlOf(app, { project, namespace }),
    rules: await findProtection(app.db, project.id, 'tag'),
    notes: await notesOf(app.db, project.id, names),
  }
}
