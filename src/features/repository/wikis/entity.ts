import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { withoutExtension } from '../../projects/uploads/names.ts'
import { frontMatterOf } from './pages.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import { localTime } from '../../../lib/time/local-time.ts'
import type { Page } from './queries.ts'

const summary = { slug: z.string(), title: z.string(), format: z.string() }

export const WikiPageSummaryEntity = entity(summary).meta({ id: 'WikiPageSummary' })
export const WikiPageEntity = entity({
  ...summary,
  content: z.string(),
  encoding: z.string(),
  front_matter: z.record(z.string(), z.string()),
}).meta({ id: 'WikiPage' })

/** A version of a page. */
export const WikiVersionEntity = entity({
  id: z.string(),
  message: z.string(),
  author_name: z.string(),
  created_at: z.string(),
}).meta({ id: 'WikiVersion' })

export const WikiAttachmentEntity = entity({
  file_name: z.string(),
  file_path: z.string(),
  branch: z.string(),
  link: entity({ url: z.string(), markdown: z.string() }),
}).meta({ id: 'WikiAttachment' })

export interface Attachment {
  readonly file_name: string
  readonly file_path: string
  readonly branch: string
}

const SHOWN = /\.(png|jpe?g|gif|bmp|tiff|ico|webp|mp4|m4v|mov|webm|ogv)$/i
const DRAWING = /\.svg$/i

/**
 * Images, videos and SVG files are embedded in the text. The label of an SVG file keeps its extension; images and
 * videos lose it.
 */
export function presentAttachment(attachment: Attachment): z.infer<typeof WikiAttachmentEntity> {
  const { file_name, file_path, branch } = attachment
  const isShown = SHOWN.test(file_name)
  const alt = isShown ? withoutExtension(file_name) : file_name
  const mark = isShown || DRAWING.test(file_name) ? '!' : ''
  return { file_name, file_path, branch, link: { url: file_path, markdown: `${mark}[${alt}](${file_path})` } }
}

export const presentPageSummary = ({ slug, title, format }: Page): z.infer<typeof WikiPageSummaryEntity> => ({
  slug,
  title,
  format,
})

export const presentPage = (page: Page, content: string): z.infer<typeof WikiPageEntity> => ({
  ...presentPageSummary(page),
  content,
  encoding: 'UTF-8',
  front_matter: frontMatterOf(content),
})

export const presentVersion = ({ id, message, author, committer }: Commit): z.infer<typeof WikiVersionEntity> => ({
  id,
  message,
  author_name: author.name,
  created_at: localTime(committer),
})
