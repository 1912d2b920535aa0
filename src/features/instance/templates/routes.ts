import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, text } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import { pageOfArray } from '../../../store/pages.ts'
import {
  LicenseEntity,
  TemplateEntity,
  TemplateSummaryEntity,
  presentLicense,
  presentTemplate,
  presentTemplateSummary,
} from './entity.ts'
import { license, listLicenses, listTemplates, templateOf, type TemplateKind } from './queries.ts'

const listAt = (path: `/${string}`, summary: string) =>
  endpoint({
    method: 'GET',
    path,
    summary,
    by: 'visitor',
    allow: 'anyone',
    input: z.object({ popular: blankable(bool) }),
    output: pageOf(LicenseEntity),
    async handle({ input, page }) {
      const { items, total } = pageOfArray(await listLicenses({ popular: input.popular ?? false }), page)
      return { total, items: items.map((license) => presentLicense(license)) }
    },
  })

const getAt = (path: `/${string}`, summary: string) =>
  endpoint({
    method: 'GET',
    path,
    summary,
    on: license,
    by: 'visitor',
    allow: 'anyone',
    input: z.object({ project: text.nullish(), fullname: text.nullish() }),
    output: LicenseEntity,
    async handle({ app, viewer, subject, input: { project, fullname } }) {
      const year = today(app.clock).slice(0, 4)
      return presentLicense(subject, { year, project, fullname: fullname || viewer?.name })
    },
  })

export const listLicenseTemplates = listAt('/templates/licenses', 'List license templates')
export const getLicenseTemplate = getAt('/templates/licenses/:key', 'Get a license with its text filled in')

// A widely used client writes this path with a capital letter.
export const listLicenseTemplatesCapital = listAt('/templates/Licenses', 'List license templates, as some clients ask')
export const getLicenseTemplateCapital = getAt('/templates/Licenses/:key', 'Get a license, as some clients ask')

const listOf = (kind: TemplateKind, summary: string) =>
  endpoint({
    method: 'GET',
    path: `/templates/${kind}`,
    summary,
    by: 'visitor',
    allow: 'anyone',
    output: pageOf(TemplateSummaryEntity),
    async handle({ page }) {
      const { items, total } = pageOfArray(await listTemplates(kind), page)
      return { total, items: items.map(presentTemplateSummary) }
    },
  })

const getOf = (kind: TemplateKind, noun: string, summary: string) =>
  endpoint({
    method: 'GET',
    path: `/templates/${kind}/:name`,
    summary,
    on: templateOf(kind, noun),
    by: 'visitor',
    allow: 'anyone',
    output: TemplateEntity,
    handle: async ({ subject }) => presentTemplate(subject),
  })

export const listGitignores = listOf('gitignores', 'List .gitignore templates')
export const getGitignore = getOf('gitignores', 'gitignore', 'Get a .gitignore template')
export const listCiFiles = listOf('gitlab_ci_ymls', 'List CI file templates')
export const getCiFile = getOf('gitlab_ci_ymls', 'gitlab_ci_yml', 'Get a CI file template')
export const listDockerfiles = listOf('dockerfiles', 'List Dockerfile templates')
export const getDockerfile = getOf('dockerfiles', 'dockerfile', 'Get a Dockerfile template')
