/** Clone URLs and archive downloads. */
import { useState } from 'preact/hooks'
import type { Records } from '../api.ts'
import { Icon } from './Icon.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/repository.ts'
import './CloneBox.css'

export function CloneBox({ project }: { project: Records['Project'] }) {
  return (
    <details class="menu clone">
      <summary class="button" data-kind="main">
        <Icon name="download" /> {t.clone}
      </summary>
      <div class="menu-items">
        <Copyable label={t.http} text={project.http_url_to_repo} />
        {project.ssh_url_to_repo !== '' && <Copyable label={common.ssh} text={project.ssh_url_to_repo} />}
        {!project.empty_repo && (
          <p class="row">
            {['zip', 'tar.gz'].map((format) => (
              <a href={`/api/v4/projects/${project.id}/repository/archive.${format}`} key={format} download>
                {format}
              </a>
            ))}
          </p>
        )}
      </div>
    </details>
  )
}

export function Copyable({ label, text }: { label: string; text: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true))
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <span class="row">
        <input readOnly value={text} onFocus={(event) => event.currentTarget.select()} />
        <button type="button" class="plain" aria-label={t.copyLabelUrl(label)} onClick={copy}>
          <Icon name={isCopied ? 'check' : 'copy'} />
        </button>
      </span>
    </label>
  )
}
