/** Registers all message sources, one line per file. */
import { accessTokenSources } from './access-tokens.ts'
import { completeCommits } from './commits.ts'
import { completeDeployment, deploymentSources } from './deployments.ts'
import { emojiSources } from './emoji.ts'
import { issueSources } from './issues.ts'
import { completeJob, jobSources } from './ci-jobs.ts'
import { lifecycleSources } from './lifecycle.ts'
import { mergeRequestSources } from './merge-requests.ts'
import type { Complete, MessageSource } from './message.ts'
import { completeNote, noteSources } from './notes.ts'
import { completePipeline, pipelineSources } from './pipelines.ts'
import { completePush, completeTagPush, pushSources } from './pushes.ts'
import { releaseMessageSources } from './releases.ts'
import { completeWikiPage, wikiPageSources } from './wiki-pages.ts'

export const sources: readonly MessageSource[] = [
  ...pushSources,
  ...issueSources,
  ...mergeRequestSources,
  ...noteSources,
  ...emojiSources,
  ...wikiPageSources,
  ...releaseMessageSources,
  ...pipelineSources,
  ...jobSources,
  ...deploymentSources,
  ...accessTokenSources,
  ...lifecycleSources,
]

/** By kind of message. */
export const completions: Readonly<Record<string, Complete>> = {
  push: completePush,
  tag_push: completeTagPush,
  merge_request: completeCommits,
  note: completeNote,
  emoji: completeCommits,
  release: completeCommits,
  wiki_page: completeWikiPage,
  pipeline: completePipeline,
  build: completeJob,
  deployment: completeDeployment,
}
