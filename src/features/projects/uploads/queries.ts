import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id, text } from '../../../api/wire.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { withUsers } from '../../identity/users/queries.ts'
import { project } from '../projects/queries.ts'
import type { LoadedUpload, Upload } from './entity.ts'

const uploadsOf = (db: Db, project: number) => db.selectFrom('uploads').selectAll().where('project_id', '=', project)

const bySecret = hotQuery((db, p: { project_id: number; secret: string }) =>
  uploadsOf(db, p.project_id).where('secret', '=', p.secret),
)

/** Both parts of the URL must match. */
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

export async function listUploads(db: Db, project: number, page: PageRequest): Promise<Page<LoadedUpload>> {
  const { items, total } = await pageOfQuery(uploadsOf(db, project).orderBy('id', 'desc'), page)
  return { total, items: await withUsers(db, items, { user: 'user_id' }) }
}
