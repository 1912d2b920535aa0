/**
 * Templates for descriptions, which a project has in `.gitlab/issue_templates` and `.gitlab/merge_request_templates`.
 */
import { useSurroundings } from '../surroundings.ts'
import type { PageRequest } from '../page.ts'
import { withQuery } from '../query.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/planning.ts'
import './Templates.css'

export interface TextTemplates {
  readonly names: readonly string[]
  readonly chosen: string | null
  readonly text: string
}

/** Used if no other template is requested. */
const DEFAULT = t.defaultLabel

type Kind = 'issues' | 'merge_requests'

/** `?template=` names one; an unknown name means no template. */
export async function loadTemplates(
  { api, query }: PageRequest,
  id: string | number,
  type: Kind,
): Promise<TextTemplates> {
  const found = await api.maybe('/projects/{id}/templates/{type}', { id, type, per_page: 100 })
  const names = (found ?? []).map(({ name }) => name)
  const templateName = query.get('template') ?? DEFAULT
  const chosen = names.find((name) => name === templateName) ?? null
  if (chosen === null) return { names, chosen, text: '' }
  const template = await api.maybe('/projects/{id}/templates/{type}/{name}', { id, type, name: chosen })
  return { names, chosen, text: template?.content ?? '' }
}

export function TemplateLinks({ of }: { of: TextTemplates }) {
  const { address } = useSurroundings()
  if (of.names.length === 0) return null
  return (
    <nav class="writing-templates" aria-label={t.templates}>
      <span class="quiet">{t.template}</span>
      {of.names.map((name) => (
        <a
          href={withQuery(address, { template: name })}
          aria-current={name === of.chosen ? 'true' : undefined}
          key={name}
        >
          {name}
        </a>
      ))}
      <a href={withQuery(address, { template: '-' })} aria-current={of.chosen === null ? 'true' : undefined}>
        {' '}
        {common.none}{' '}
      </a>
    </nav>
  )
}
