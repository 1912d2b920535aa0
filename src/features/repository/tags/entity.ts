import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Tag } from '../../../git/refs/refs.ts'
import { CommitEntity, presentCommit } from '../commits/entity.ts'
import { isProtected, type Rules } from '../protected-branches/matching.ts'

/** A tag with its commit. */
export interface LoadedTag extends Omit<Tag, 'commit'> {
  /** Null if the tag points to another kind of object. */
  readonly commit: Commit | null
  /** Null for a lightweight tag. */
  readonly created_at: string | null
}

export const ReleaseNoteEntity = entity({ tag_name: z.string(), description: z.string().nullable() }).meta({
  id: 'ReleaseNote',
})

export const TagEntity = entity({
  name: z.string(),
  message: z.string().nullable(),
  target: z.string(),
  commit: CommitEntity.nullable(),
  release: ReleaseNoteEntity.nullable(),
  protected: z.boolean(),
  created_at: timestampOut.nullable(),
}).meta({ id: 'Tag' })

export interface TagSurroundings {
  /** The URL of the project. */
  readonly url: string
  readonly rules: Rules
  /** By tag name. */
  readonly notes: ReadonlyMap<string, Note>
}

interface Note {
  readonly tag: string
  readonly description: string | null
}

export function presentTag(tag: LoadedTag, around: TagSurroundings): z.infer<typeof TagEntity> {
  const { name, annotation, commit } = tag
  const note = around.notes.get(name)
  return {
    name,
    message: annotation && annotation.message,
    target: tag.target,
    commit: commit && presentCommit(commit, around),
    release: note ? presentNote(note) : null,
    protected: isProtected(around.rules, name),
    created_at: tag.created_at,
  }
}

export const presentNote = ({ tag, description }: Note): z.infer<typeof ReleaseNoteEntity> => ({
  tag_name: tag,
  description,
})
