import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { SANDBOXED, disposition } from '../../../lib/file-headers.ts'
import type { Row } from '../../../store/database.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { withoutExtension } from './names.ts'

export type Upload = Row<'uploads'>

/** What the sender puts into a text. */
export const UploadResultEntity = entity({
  id: z.int(),
  alt: z.string(),
  url: z.string(),
  full_path: z.string(),
  markdown: z.string(),
}).meta({ id: 'UploadResult' })

export function presentUploadResult(upload: Upload, projectPath: string): z.infer<typeof UploadResultEntity> {
  const { id, filename, secret, type } = upload
  const url = `/uploads/${secret}/${filename}`
  const isShown = /^(image|video)\//.test(type)
  const alt = isShown && type !== 'image/svg+xml' ? withoutExtension(filename) : filename
  return {
    id,
    alt,
    url,
    full_path: `/${projectPath}${url}`,
    markdown: `${isShown ? '!' : ''}[${alt}](${url})`,
  }
}

/** What those who look after the project see of it. */
export const UploadEntity = entity({
  id: z.int(),
  size: z.int(),
  filename: z.string(),
  created_at: timestampOut,
  uploaded_by: UserSummaryEntity.nullable(),
}).meta({ id: 'Upload' })

export interface LoadedUpload extends Upload {
  readonly user: User | null
}

export function presentUpload(upload: LoadedUpload, around: Surroundings): z.infer<typeof UploadEntity> {
  return {
    id: upload.id,
    size: upload.size,
    filename: upload.filename,
    created_at: upload.created_at,
    uploaded_by: upload.user && presentUserSummary(upload.user, around),
  }
}

/** Raster images, moving ones, sounds and plain text; a drawing may hold a script, so it is not among them. */
const SHOWN_IN_PLACE = /^(image\/(?!svg)|video\/|audio\/|text\/plain)/

/** How a browser is to take the file: for what its bytes are, and never as a page of ours. */
export function fileHeaders({ filename, type }: Upload): Record<string, string> {
  const manner = SHOWN_IN_PLACE.test(type) ? 'inline' : 'attachment'
  return {
    'Content-Type': type,
    'Content-Disposition': disposition(manner, filename),
    ...SANDBOXED,
    'Cache-Control': 'max-age=0, private, must-revalidate',
  }
}
