import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { findCommits, type Commit } from '../../../git/objects/commits.ts'
import { findTag, listTags, type Listed, type RefsWish, type Tag } from '../../../git/refs/refs.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { localTime } from '../../../lib/local-time.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { findProtection } from '../protected-branches/queries.ts'
import { notesOf } from '../releases/queries.ts'
import { repositoryPolicy, type RepositorySubject } from '../repositories/policy.ts'
import { findRepository, repository } from '../repositories/queries.ts'
import type { TagSurroundings } from './entity.ts'

/** A tag with the commit it leads to. */
export interface LoadedTag extends Omit<Tag, 'commit'> {
  /** Null when it leads to something else. */
  readonly commit: Commit | null
  /** Null for a lightweight tag. */
  readonly created_at: string | null
}

/** A project that is still being imported has no repository yet, and so no tags. */
export async function findLoadedTag(dir: string, name: string): Promise<LoadedTag | null> {
  const tag = (await repositoryExists(dir)) ? await findTag(dir, name) : null
  return tag && ((await withCommits(dir, [tag]))[0] ?? null)
}

export async function listLoadedTags(dir: string, wish: RefsWish): Promise<Listed<LoadedTag>> {
  const { items, total } = await listTags(dir, wish)
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

/** `/projects/:id/repository/tags/:tag_name`: the repository, and the tag if there is one. */
export const tag = resource({
  name: repository.name!,
  params: z.object({ id: text, tag_name: text }),
  policy: repositoryPolicy,
  async find(app, { id, tag_name: name }, viewer) {
    const subject = await findRepository(app, id, viewer)
    if (!subject) return null
    return { ...subject, tag: repositoryPolicy.download(subject) ? await findLoadedTag(subject.dir, name) : null }
  },
})

/** What the records of these tags tell beyond git's refs, asked for all of them at once. */
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
