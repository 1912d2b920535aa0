/** Links to release assets that this forge does not store. */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { notFound, taken } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import type { Release, ReleaseLink } from './model.ts'
import { assertValidLink, type LinkInput } from './validation.ts'

export interface NewLink extends LinkInput {
  name: string
  url: string
}

export async function insertLinks(app: App, release: Release, links: readonly NewLink[]): Promise<ReleaseLink[]> {
  if (links.length === 0) return []
  const created_at = timestamp(app.clock)
  const rows = links.map(({ name, url, link_type, direct_asset_path }) => ({
    release_id: release.id,
    name,
    url,
    link_type: link_type ?? ('other' as const),
    direct_asset_path: direct_asset_path || null,
    created_at,
  }))
  return withoutTwins(app.db.insertInto('release_links').values(rows).returningAll().execute())
}

export async function addLink(app: App, actor: User, release: Release, input: NewLink): Promise<ReleaseLink> {
  assertValidLink(input)
  return transact(app, async (app) => {
    const [link] = await insertLinks(app, release, [input])
    await touch(app, actor, release)
    return link!
  })
}

export async function updateLink(
  app: App,
  actor: User,
  release: Release,
  { id }: ReleaseLink,
  input: LinkInput,
): Promise<ReleaseLink> {
  assertValidLink(input)
  const { name, url, link_type, direct_asset_path: path } = input
  return transact(app, async (app) => {
    await touch(app, actor, release)
    const link = await withoutTwins(
      app.db
        .updateTable('release_links')
        .set((eb) => ({
          // An SQL update must set at least one column.
          name: name ?? eb.ref('name'),
          ...(typeof url === 'string' && { url }),
          ...(link_type && { link_type }),
          ...(path !== undefined && { direct_asset_path: path || null }),
        }))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst(),
    )
    if (!link) throw notFound() // a concurrent request deleted the row
    return link
  })
}

export async function removeLink(app: App, actor: User, release: Release, { id }: ReleaseLink): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('release_links').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound() // a concurrent request deleted the row
    await touch(app, actor, release)
  })
}

/** Links are part of a release, so a changed link updates the release. */
async function touch(app: TransactionApp, actor: User, { id, project_id }: Release): Promise<void> {
  await app.db
    .updateTable('releases')
    .set({ updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .execute()
  await emit(app, 'release.updated', { id, project_id, by: actor.id })
}

const withoutTwins = <T>(change: Promise<T>): Promise<T> =>
  unlessTaken(
    change,
    'release_links',
    [
      ['release_id', 'name'],
      ['release_id', 'url'],
    ],
    ([, field]) => taken(field),
  )
