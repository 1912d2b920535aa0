import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { frontMatterOf } from './pages.ts'
import type { Page } from './queries.ts'

const summary = { slug: z.string(), title: z.string(), format: z.string() }

export const WikiPageSummaryEntity = entity(summary).meta({ id: 'WikiPageSummary' })
export const WikiPageEntity = entity({
  ...summary,
  content: z.string(),
  encoding: z.string(),
  front_matter: z.record(z.string(), z.string()),
}).meta({ id: 'WikiPage' })

export const WikiAttachmentEntity = entity({
  file_name: z.string(),
  file_path: z.string(),
  branch: z.string(),
  link: entity({ url: z.string(), markdown: z.string() }),
}).meta({ id: 'WikiAttachment' })

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
