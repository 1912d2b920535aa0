import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { SANDBOXED, disposition } from '../../../lib/net/file-headers.ts'
import type { Row } from '../../../store/database.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { withoutExtension } from './names.ts'

export type Upload = Row<'uploads'>

/** The Markdown link and URL for the uploader. */
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

/** The record for maintainers of the project. */
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

/**
 * Raster images, videos, sounds and plain text. SVG images are not shown in place, because they may contain scripts.
 */
const SHOWN_INLINE = /^(image\/(?!svg)|video\/|audio\/|text\/plain)/

/** Makes a browser treat the file by the type of its bytes, and never as a page of this server. */
export function fileHeaders({ filename, type }: Upload): Record<string, string> {
  const manner = SHOWN_INLINE.test(type) ? 'inline' : 'attachment'
  return {
    'Content-Type': type,
    'Content-Disposition': disposition(manner, filename),
    ...SANDBOXED,
    'Cache-Control': 'max-age=0, private, must-revalidate',
  }
}
