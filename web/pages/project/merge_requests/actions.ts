/** Form actions of a merge request, for all its tabs. */
import { deletedItemFlash } from '../../../components/DeletedItems.tsx'
import { labelNames, labelsOf } from '../../../components/MergeRequests.tsx'
import { text, texts, type Act, type Page } from '../../../page.ts'
import { undoable } from '../../../undo.ts'
import { requestParams } from './Head.tsx'
import * as t from '../../../texts/merge-requests.ts'

type Actions = NonNullable<Page['actions']>

const ONE = '/projects/{id}/merge_requests/{merge_request_iid}'

const update = (act: Act, changes: object) => act.api.put(ONE, { ...requestParams(act), ...changes })

const DRAFT = /^\s*(?:\[WIP\]|WIP:|WIP(?=\s)|\[Draft\]|\(Draft\)|Draft:)\s*/i

const now = (act: Act) => act.api.get(ONE, requestParams(act))

async function titleOf(act: Act): Promise<string> {
  return (await now(act)).title
}

export const stateActions: Actions = {
  async close(act) {
    await update(act, { state_event: 'close' })
    return undoable(t.mergeRequestClosed, 'reopen')
  },
  async reopen(act) {
    await update(act, { state_event: 'reopen' })
  },
  async draft(act) {
    await update(act, { title: `Draft: ${await titleOf(act)}` })
  },
  async ready(act) {
    let title = await titleOf(act)
    while (DRAFT.test(title)) title = title.replace(DRAFT, '')
    await update(act, { title })
  },
}

const optionalText = (act: Act, name: string) => text(act.form, name).trim() || undefined

function mergeInput({ form }: Act) {
  return {
    // Merges only the commit that the user saw.
    sha: text(form, 'sha'),
    ...(form.squash !== undefined && { squash: text(form, 'squash') === 'true' }),
    should_remove_source_branch: text(form, 'should_remove_source_branch') === 'true',
  }
}

export const mergeActions: Actions = {
  async approve(act) {
    const password = text(act.form, 'approval_password')
    await act.api.post(`${ONE}/approve`, {
      ...requestParams(act),
      sha: text(act.form, 'sha'),
      ...(password && { approval_password: password }),
    })
  },
  async unapprove(act) {
    await act.api.post(`${ONE}/unapprove`, requestParams(act))
  },
  async merge(act) {
    await act.api.put(`${ONE}/merge`, {
      ...requestParams(act),
      ...mergeInput(act),
      merge_commit_message: optionalText(act, 'merge_commit_message'),
      squash_commit_message: optionalText(act, 'squash_commit_message'),
      merge_when_pipeline_succeeds: text(act.form, 'when') === 'pipeline',
    })
  },
  async cancelMerge(act) {
    await act.api.put(`${ONE}/cancel_merge_when_pipeline_succeeds`, requestParams(act))
  },
  async rebase(act) {
    await act.api.put(`${ONE}/rebase`, { ...requestParams(act), stack: text(act.form, 'stack') === 'true' })
  },
}

/** Submits a review: publishes all drafts, with a decision. */
export const reviewActions: Actions = {
  async submitReview(act) {
    const verdict = ['approve', 'requested_changes'].find((one) => one === text(act.form, 'verdict')) ?? 'reviewed'
    const body = [text(act.form, 'body').trim(), `/submit_review ${verdict}`].filter(Boolean).join('\n\n')
    await act.api.post(`${ONE}/notes`, { ...requestParams(act), body })
  },
  async publishDraft(act) {
    const draft_note_id = text(act.form, 'draft_note_id')
    await act.api.put(`${ONE}/draft_notes/{draft_note_id}/publish`, { ...requestParams(act), draft_note_id })
  },
  async editDraft(act) {
    const draft_note_id = text(act.form, 'draft_note_id')
    await act.api.put(`${ONE}/draft_notes/{draft_note_id}`, {
      ...requestParams(act),
      draft_note_id,
      note: text(act.form, 'body'),
    })
  },
  async deleteDraft(act) {
    await act.api.delete(`${ONE}/draft_notes/{draft_note_id}`, {
      ...requestParams(act),
      draft_note_id: text(act.form, 'draft_note_id'),
    })
  },
  async applySuggestion(act) {
    await act.api.put('/suggestions/{id}/apply', {
      id: text(act.form, 'suggestion_id'),
      commit_message: optionalText(act, 'commit_message'),
    })
  },
  async applyAll(act) {
    await act.api.put('/suggestions/batch_apply', { ids: texts(act.form, 'ids').map(Number) })
  },
}

export const planActions: Actions = {
  async assign(act) {
    const before = await now(act)
    await update(act, { assignee_ids: texts(act.form, 'assignee_ids').map(Number) })
    return undoable(t.assigneesUpdated, 'assign', { assignee_ids: before.assignees.map(({ id }) => id) })
  },
  async askReview(act) {
    const before = await now(act)
    await update(act, { reviewer_ids: texts(act.form, 'reviewer_ids').map(Number) })
    return undoable(t.reviewersUpdated, 'askReview', { reviewer_ids: before.reviewers.map(({ id }) => id) })
  },
  async label(act) {
    const before = await now(act)
    await update(act, { labels: texts(act.form, 'labels') })
    return undoable(t.labelsUpdated, 'label', { labels: labelsOf(before).map(({ name }) => name) })
  },
  async plan(act) {
    const before = await now(act)
    await update(act, { milestone_id: Number(text(act.form, 'milestone_id')) || 0 })
    return undoable(t.milestoneUpdated, 'plan', { milestone_id: before.milestone?.id ?? 0 })
  },
  async subscribe(act) {
    const path = text(act.form, 'wish') === 'on' ? (`${ONE}/subscribe` as const) : (`${ONE}/unsubscribe` as const)
    await act.api.post(path, requestParams(act))
  },
  async remind(act) {
    await act.api.post(`${ONE}/todo`, requestParams(act))
    return { flash: { done: t.addedToYourToDoList } }
  },
  /** Named as in a text: `!3`, or by its URL. */
  async block(act) {
    const iid = /(\d+)\s*$/.exec(text(act.form, 'reference'))?.[1] ?? '0'
    const blocking = await act.api.get(ONE, { id: act.params.id!, merge_request_iid: iid })
    await act.api.post(`${ONE}/blocks`, { ...requestParams(act), blocking_merge_request_id: blocking.id })
  },
  async unblock(act) {
    await act.api.delete(`${ONE}/blocks/{block_id}`, { ...requestParams(act), block_id: text(act.form, 'block_id') })
  },
  async remove(act) {
    const { title } = await act.api.get(ONE, requestParams(act))
    await act.api.delete(ONE, requestParams(act))
    const deleted = { kind: 'merge_request', title } as const
    const flash = await deletedItemFlash(act, '/projects/{id}', deleted, t.mergeRequestDeleted(title))
    return { ...flash, to: `/${act.params.id}/-/merge_requests` }
  },
  async runPipeline(act) {
    await act.api.post(`${ONE}/pipelines`, requestParams(act))
  },
  async edit(act) {
    await update(act, {
      title: text(act.form, 'title'),
      description: text(act.form, 'description'),
      target_branch: text(act.form, 'target_branch'),
      squash: text(act.form, 'squash') === 'true',
      remove_source_branch: text(act.form, 'remove_source_branch') === 'true',
      ...(act.form.labels !== undefined && { labels: labelNames(text(act.form, 'labels')) }),
    })
    return act.address.replace(/\/edit(\?.*)?$/, '')
  },
}
