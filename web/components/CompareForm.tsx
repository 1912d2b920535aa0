import { Icon } from './Icon.tsx'
import type { Refs } from './RefPicker.tsx'
import { below, type Project } from '../layout/project.tsx'
import * as t from '../texts/common.ts'
import './CompareForm.css'

interface CompareFormProps {
  project: Project
  refs: Refs
  from?: string
  to?: string
}

/** Two names of branches, tags or commits. */
export function CompareForm({ project, refs, from, to }: CompareFormProps) {
  return (
    <form class="compare-form" action={below(project, 'compare')}>
      <label class="field">
        <span class="field-label">{t.from}</span>
        <input name="from" list="refs" required value={from ?? project.default_branch ?? ''} />
      </label>
      <label class="field">
        <span class="field-label">{t.to}</span>
        <input name="to" list="refs" required value={to ?? ''} />
      </label>
      <datalist id="refs">
        {[...refs.branches, ...refs.tags].map(({ name }) => (
          <option value={name} key={name} />
        ))}
      </datalist>
      <div class="row">
        <button class="button" data-kind="main">
          {t.compare}
        </button>
        {from && to && (
          <a class="button" href={compareAddress(project, to, from)}>
            <Icon name="arrow" /> {t.swap}
          </a>
        )}
      </div>
    </form>
  )
}

export const compareAddress = (project: { path_with_namespace: string }, from: string, to: string) =>
  below(project, `compare/${[from, to].map((name) => name.split('/').map(encodeURIComponent).join('/')).join('...')}`)
