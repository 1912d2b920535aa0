import { child } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id, text } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { newestFirst } from '../../identity/belongings.ts'
import { project } from '../projects/queries.ts'
import type { LoadedUpload, Upload } from './entity.ts'

const uploadsOf = (db: Db, project: number) => db.selectFrom('uploads').selectAll().where('project_id', '=', project)

const bySecret = hotQuery((db, p: { project_id: number; secret: string }) =>
  uploadsOf(db, p.project_id).where('secret', '=', p.secret),
)

/** Both parts of its address must be right. */
export async function findUpload(
  db: Db,
  project: number,
  { secret, filename }: { secret: string; filename: string },
): Promise<Upload | null> {
  if (!/^[0-9a-f]{32}$/.test(secret)) return null
  const [upload] = await bySecret(db, { project_id: project, secret })
  return upload?.filename === filename ? upload : null
}

export const upload = child(project, {
  name: 'Upload',
  key: 'upload',
  params: { secret: text, filename: text },
  find: (app, { project }, address) => findUpload(app.db, project.id, address),
})

export const uploadById = child(project, {
  name: 'Upload',
  key: 'upload',
  params: { upload_id: id },
  find: (app, { project }, { upload_id }) =>
    uploadsOf(app.db, project.id).where('id', '=', upload_id).executeTakeFirst(),
})

const usersById = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('users')
    .selectAll()
    .where(inIdList(db, 'id', p.ids)),
)

export async function listUploads(db: Db, project: number, page: PageWish): Promise<Page<LoadedUpload>> {
  const { items, total } = await newestFirst(uploadsOf(db, project), page)
  const ids = new Set(items.map(({ user_id }) => user_id).filter((id) => id !== null))
  const users = ids.size === 0 ? [] : await usersById(db, { ids: idList(db, [...ids]) })
  const byId = new Map(users.map((user) => [user.id, user]))
  return { total, items: items.map((upload) => ({ ...upload, user: byId.get(upload.user_id ?? 0) ?? null })) }
}
