import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { fillPlaceholders, type Filling } from './placeholders.ts'
import type { License, Template } from './queries.ts'

export const TemplateSummaryEntity = entity({ key: z.string(), name: z.string() }).meta({ id: 'TemplateSummary' })

export const TemplateEntity = TemplateSummaryEntity.extend({ content: z.string() }).meta({ id: 'Template' })

export const LicenseEntity = entity({
  key: z.string(),
  name: z.string(),
  nickname: z.string().nullable(),
  popular: z.boolean(),
  html_url: z.string(),
  source_url: z.string().nullable(),
  description: z.string(),
  conditions: z.array(z.string()),
  permissions: z.array(z.string()),
  limitations: z.array(z.string()),
  content: z.string(),
}).meta({ id: 'LicenseTemplate' })

export const presentTemplateSummary = ({ name }: Template): z.infer<typeof TemplateSummaryEntity> => ({
  key: name,
  name,
})

export const presentTemplate = ({ name, content }: Template): z.infer<typeof TemplateEntity> => ({
  key: name,
  name,
  content,
})

/** Without `filling` the placeholders stay, as in lists. */
export function presentLicense(license: License, filling?: Filling): z.infer<typeof LicenseEntity> {
  return {
    key: license.key,
    name: license.name,
    nickname: license.nickname,
    popular: license.popular,
    html_url: license.html_url,
    source_url: license.source_url,
    description: license.description,
    conditions: [...license.conditions],
    permissions: [...license.permissions],
    limitations: [...license.limitations],
    content: filling ? fillPlaceholders(license.content, filling) : license.content,
  }
}
