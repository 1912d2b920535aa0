import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, conflict, notFound } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { mayCreateTag } from '../protected-branches/matching.ts'
import { findProtection, groupsAmong } from '../protected-branches/queries.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import type { LoadedTag } from '../tags/entity.ts'
import { findLoadedTag } from '../tags/queries.ts'
import { createTag } from '../tags/service.ts'
import { insertLinks, type NewLink } from './links.ts'
import { findMilestones, setMilestones } from './milestones.ts'
import type { Release } from './model.ts'
import { findRelease } from './queries.ts'
import { deleteReleaseOfTag } from './removal.ts'
import { assertNoTwins, assertValidLink, assertValidRelease } from './validation.ts'

/** A user who may not create a protected tag may not describe its release either. */
export async function assertMayRelease(
  app: App,
  user: User,
  { project, level }: RepositorySubject,
  tag: string,
): Promise<void> {
  const rules = await findProtection(app.db, project.id, 'tag')
  const groups = await groupsAmong(app.db, user, rules)
  if (!mayCreateTag(rules, tag, { user, level, groups })) throw new Refusal('forbidden', 'Access Denied')
}

export interface NewRelease {
  name?: string | null | undefined
  description?: string | null | undefined
  released_at?: string | null | undefined
  milestones?: readonly string[] | null | undefined
  links?: readonly NewLink[]
}

export interface Publication extends NewRelease {
  tag_name: string
  /** The ref for creating a missing tag. */
  ref?: string | null | undefined
  tag_message?: string | null | undefined
}

const alreadyExists = () => conflict('Release already exists')

/** Runs all checks before it creates a tag. */
export async function publishRelease(
  app: App,
  actor: User,
  subject: RepositorySubject,
  input: Publication,
): Promise<Release> {
  const { tag_name, ref, tag_message: message } = input
  await assertMayRelease(app, actor, subject, tag_name)
  assertValidNew(input)
  await findMilestones(app, subject, input.milestones)
  if (await findRelease(app.db, subject.project.id, tag_name)) throw alreadyExists()
  const known = await findLoadedTag(subject.dir, tag_name)
  if (!known && !ref) throw new Refusal('unprocessable', 'Ref is not specified')
  const tag = known ?? (await createTag(app, actor, subject, { tag_name, ref: ref!, message }))
  return createRelease(app, actor, subject, tag, input)
}

function assertValidNew({ links = [], ...input }: NewRelease): void {
  assertValidRelease(input)
  for (const link of links) assertValidLink(link)
  assertNoTwins(links)
}

/** Creates a release for an existing tag. */
export async function createRelease(
  app: App,
  actor: User,
  { project, namespace }: Pick<RepositorySubject, 'project' | 'namespace'>,
  tag: LoadedTag,
  input: NewRelease,
): Promise<Release> {
  assertValidNew(input)
  const now = timestamp(app.clock)
  const values = {
    project_id: project.id,
    tag: tag.name,
    sha: tag.commit?.id ?? null,
    name: input.name || null,
    description: input.description ?? null,
    author_id: actor.id,
    released_at: input.released_at ?? now,
    created_at: now,
    updated_at: now,
  }
  const created = transact(app, async (app) => {
    const release = await app.db.insertInto('releases').values(values).returningAll().executeTakeFirstOrThrow()
    await insertLinks(app, release, input.links ?? [])
    await setMilestones(app, release, await findMilestones(app, { project, namespace }, input.milestones))
    await emit(app, 'release.created', { id: release.id, project_id: release.project_id, by: actor.id })
    return release
  })
  return unlessTaken(created, 'releases', [['project_id', 'tag']], alreadyExists)
}

export async function updateRelease(
  app: App,
  actor: User,
  subject: RepositorySubject,
  { id, tag }: Release,
  { name, description, released_at, milestones }: Omit<NewRelease, 'links'>,
): Promise<Release> {
  await assertMayRelease(app, actor, subject, tag)
  assertValidRelease({ name, description })
  return transact(app, async (app) => {
    const release = await app.db
      .updateTable('releases')
      .set({
        ...(name !== undefined && { name: name || null }),
        ...(description !== undefined && { description }),
        ...(released_at && { released_at }),
        updated_at: timestamp(app.clock),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (!release) throw notFound() // a concurrent request deleted the row
    await setMilestones(app, release, await findMilestones(app, subject, milestones))
    await emit(app, 'release.updated', { id, project_id: release.project_id, by: actor.id })
    return release
  })
}

export async function deleteRelease(
  app: App,
  actor: User,
  subject: RepositorySubject,
  { tag }: Release,
): Promise<void> {
  await assertMayRelease(app, actor, subject, tag)
  await deleteReleaseOfTag(app, { project: subject.project, by: actor.id }, tag)
}
