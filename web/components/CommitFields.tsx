/** The last part of a form that edits files: the commit message and the target branch. */
import type { Project } from '../layout/project.tsx'
import { Field, Switch } from './Form.tsx'
import * as common from '../texts/common.ts'
import * as t from '../texts/repository.ts'
import './CommitFields.css'

interface CommitFieldsProps {
  project: Project
  /** The current branch, tag or commit. */
  at: string
  isBranch: boolean
  sha: string | null
  message: string
}

export function CommitFields({ project, at, isBranch, sha, message }: CommitFieldsProps) {
  return (
    <fieldset class="commit-fields">
      <legend>{common.commit}</legend>
      <input type="hidden" name="ref" value={sha === null ? '' : at} />
      <input type="hidden" name="is_branch" value={String(isBranch)} />
      {sha !== null && <input type="hidden" name="sha" value={sha} />}
      <Field name="message" label={common.message} value={message} lines={2} required />
      <Field
        name="branch"
        label={common.branch}
        value={isBranch ? at : ''}
        required
        hint={t.enterNewNameToCreateBranch}
      />
      {project.merge_requests_enabled && (
        <Switch name="request" label={t.createMergeRequestForNewBranch} isOn={false} />
      )}
    </fieldset>
  )
}
