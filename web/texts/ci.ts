/** Texts of pipelines, jobs, runners, variables and environments. */
import { plural } from './common.ts'

export const run = 'Run'
export const jobs = 'Jobs'
export const environments = 'Environments'
export const schedules = 'Schedules'
export const pipelineNumber = (id: number) => `Pipeline #${id}`
export const runName = (name: string) => `Run ${name}`
export const deleteName = (name: string) => `Delete ${name}`
export const deleteNameQuestion = (name: string) => `Delete ${name}?`
export const variables = 'Variables'
export const addVariable = 'Add variable'
export const ciCdSettings = 'CI/CD settings'
export const fullConfigurationWithAllIncludes = 'Full configuration with all includes'
export const validate = 'Validate'
export const configuration = 'Configuration'
export const viewDeployment = 'View deployment'
export const stop = 'Stop'
export const stopNameQuestion = (name: string) => `Stop ${name}?`
export const bySuffix = (name: string) => ` by ${name}`
export const externalUrl = 'External URL'
export const log = 'Log'
export const finished = 'Finished'
export const coverage = 'Coverage'
export const noJobs = 'No jobs'
export const branchOrTag = 'Branch or tag'
export const newSchedule = 'New schedule'
export const takeOwnership = 'Take ownership'
export const takeOwnershipDescription = (description: string) => `Take ownership: ${description}`
export const triggerTokens = 'Trigger tokens'

// Ci actions

export const jobRestartedAs = (id: number) => `Job restarted as #${id}.`
export const jobCancelled = 'Job cancelled.'

// Ci parts

export const ciCd = 'CI/CD'
export const pipelineInline = (id: number) => `pipeline #${id}`
export const editor = 'Editor'
export const allowedToFail = 'allowed to fail'
export const cancelName = (name: string) => `Cancel ${name}`
export const retryName = (name: string) => `Retry ${name}`
export const oneByte = '1 byte'
export const theScriptExitedWithError = 'the script exited with an error'
export const anApiRequestFailed = 'an API request failed'
export const noRunnerPickedUpJob = 'no runner picked up the job in time'
export const theJobExceededTimeout = 'the job exceeded the timeout'
export const runnerSystemFailure = 'runner system failure'
export const theRunnerIsOutdated = 'the runner is outdated'
export const theRunnerIsMisconfigured = 'the runner is misconfigured'
export const anExternalDependencyOfRunnerFailed = 'an external dependency of the runner failed'
export const theRunnerWasInterrupted = 'the runner was interrupted'
export const theImageCouldNotBePulled = 'the image could not be pulled'
export const artifactsOfPreviousJobAreMissing = 'artifacts of a previous job are missing'
export const theDelayedJobCouldNot = 'the delayed job could not be started in time'
export const theJobIsArchived = 'the job is archived'
export const prerequisitesAreNotMet = 'prerequisites are not met'
export const theSchedulerFailed = 'the scheduler failed'
export const dataIntegrityFailure = 'data integrity failure'
export const theEnvironmentCouldNotBeCreated = 'the environment could not be created'
export const unknownFailure = 'unknown failure'

// Runners

export const runnerCreatedCopyTokenNow = 'Runner created. Copy the token now. The token is not shown again.'
export const newRunner = 'New runner'
export const createRunner = 'Create runner'
export const commaSeparatedRunnerPicksUp = 'Comma-separated. The runner picks up jobs with these tags.'
export const runUntaggedJobs = 'Run untagged jobs'
export const noRunnersAvailableJobsStay = 'No runners available. Jobs stay pending until a runner is added.'
export const noGroupRunnersInstanceRunners = 'No group runners. Instance runners also run jobs of this group.'
export const noRunnersYetCreateRunner =
  'No runners yet. Create a runner, then start the runner program with the runner token.'
export const instanceRunner = 'Instance runner'
export const groupRunner = 'Group runner'
export const projectRunner = 'Project runner'
export const runnerNumber = (id: number) => `Runner ${id}`
export const paused = 'paused'
export const resume = 'Resume'
export const pause = 'Pause'

// Variable rows

export const nameOfVariable = (n: number) => `Name of variable ${n}`
export const name = 'NAME'
export const valueOfVariable = (n: number) => `Value of variable ${n}`
export const value = 'value'

// Variables

export const noVariables = 'No variables.'
export const actions = 'Actions'
export const editKey = (key: string) => `Edit ${key}`
export const file = 'file'
export const hidden = 'hidden'
export const revealValueOfKey = (key: string) => `Reveal value of ${key}`
export const variable = 'Variable'
export const lettersDigitsAndUnderscores = 'Letters, digits and underscores.'
export const forAllEnvironmentsOrPattern = '“*” for all environments, or a pattern such as “review/*”.'
export const protectedLabel = 'Protected'
export const availableOnlyToJobs = 'Available only to jobs on protected branches and tags.'
export const masked = 'Masked'
export const hiddenInJobLogs = 'Hidden in job logs. At least 8 characters, single line.'
export const expanded = 'Expanded'
export const startsReferenceToAnotherVariable = '“$” starts a reference to another variable.'
export const saveVariable = 'Save variable'

// Group, settings, ci cd

export const appliesToAllProjects = 'Applies to all projects in this group and its subgroups.'

// Ci, lint result

export const warningText = (warning: string) => `Warning: ${warning}`
export const stage = 'Stage'
export const job = 'Job'
export const when = 'When'
export const needs = 'Needs'
export const script = 'Script'
export const validationResult = 'Validation result'
export const configurationIsValid = 'Configuration is valid'
export const configurationIsInvalid = 'Configuration is invalid'
export const jobsInPipeline = (jobs: number) => `Jobs in the pipeline: ${jobs}.`
export const errorsFound = (errors: number) => `Errors: ${errors}.`

// Ci, live check

export const validating = 'Validating…'
export const validationFailedFault = (fault: string) => `Validation failed: ${fault}`
export const lineNumber = (line: number) => `Line ${line}`
export const valid = 'Valid'
export const invalid = 'Invalid'
export const allIncludes = 'All includes'

// Ci, editor

export const validateAnotherFile = 'Validate another file'
export const switchBranch = 'Switch branch'
export const noCiConfigurationStartFromExample = (branch: string) =>
  `No CI configuration on ${branch} yet. Start from this example.`
export const thisProjectUsesAnotherCi = 'This project uses another CI configuration file: {pathOf}'
export const pipelineEditor = 'Pipeline editor'
export const addCiConfiguration = 'Add CI configuration'
export const updatePath = (path: string) => `Update ${path}`
export const validBadge = 'valid'
export const invalidBadge = 'invalid'
export const commitMessage = 'Commit message'
export const enterNewNameToCreateBranch = 'Enter a new name to create a branch.'
export const noCiConfigurationOnBranch = (branch: string) => `No CI configuration on ${branch}`

// Ci, lint

export const validateCiConfig = 'Validate CI config'
export const simulatePipeline = 'Simulate a pipeline'
export const evaluatesRulesForDefaultBranch = 'Evaluates rules for the default branch.'

// Environments, environment

export const autoStopsTime = 'auto-stops {time}'
export const deployments = 'Deployments'
export const noDeploymentsYet = 'No deployments yet'

// Environments

export const addEnvironmentProductionToDeploymentJob = 'Add <code>environment: production</code> to a deployment job.'
export const newEnvironment = 'New environment'
export const createEnvironment = 'Create environment'
export const tierDeployment = (iid: number) => `{tier}, deployment #${iid} of {refLink}`
export const available = 'Available'
export const stopped = 'Stopped'
export const noEnvironments = 'No environments'
export const tier = 'Tier'
export const detectFromName = 'Detect from name'
export const tierNoDeploymentsYet = (tier: string) => `${tier}, no deployments yet`
export const stopName = (name: string) => `Stop ${name}`

// Jobs, job, log

export const earlierLinesHidden = (count: number) => `${count} earlier lines hidden.`
export const scrollToTop = 'Scroll to top'
export const earlierLines = 'Earlier lines'
export const laterLines = 'Later lines'
export const scrollToBottom = 'Scroll to bottom'
export const followLog = 'Follow the log'

// Jobs, job, artifacts, artifact browser

export const artifacts = 'Artifacts'
export const ofName = (id: number) => `of {name} (#${id})`
export const downloadAll = 'Download all'
export const pathOfName = (path: string, name: string) => `${path} of ${name}`
export const thisFolderIsEmpty = 'This folder is empty'

// Jobs, job

export const jobFailedFailureText = (failureText: string) => `Job failed: ${failureText}`
export const erase = 'Erase'
export const fullLogSize = 'Full log ({size})'
export const runJob = 'Run job'
export const linesFound = (count: number, isCut: boolean, search: string) =>
  `${isCut ? 'The first ' : ''}${count} ${plural(count, 'line')} with “${search}”`
export const artifactsSize = 'Artifacts {size}'
export const browse = 'Browse'
export const expiresTime = 'Expires {time}'
export const keepArtifacts = 'Keep artifacts'
export const deleteArtifacts = 'Delete artifacts'
export const eraseJobLogAndArtifacts = 'Erase the job log and artifacts?'
export const logErased = 'Log erased'
export const noLog = 'No log'
export const searchLog = 'Search the log'
export const waitingForPreviousJobs = 'Waiting for previous jobs'
export const waitingForRunner = 'Waiting for a runner'
export const waitingForResource = 'Waiting for resource'
export const thisJobMustBeStartedManually = 'This job must be started manually'
export const matchingLines = 'Matching lines'
export const runner = 'Runner'
export const deleteJobArtifacts = 'Delete the job artifacts?'

// Jobs

export const runPipelineToCreateJobs = 'Run a <link>pipeline</link> to create jobs.'

// Pipeline schedules, schedule form

export const cronSyntaxMinuteHourDay =
  'Cron syntax: minute, hour, day of month, month, day of week. “0 4 * * 1” is every Monday at 04:00.'
export const intervalPattern = 'Interval pattern'
export const timeZone = 'Time zone'

// Pipeline schedules, schedule, edit

export const editSchedule = 'Edit schedule'

// Pipeline schedules

export const useScheduleToRunPipelines =
  'Use a schedule to run pipelines at regular intervals, for example every night.'
export const nextRunTime = 'next run {time}'
export const inactive = 'Inactive'
export const noSchedules = 'No schedules'

// Pipeline schedules, new

export const createSchedule = 'Create schedule'

// Pipelines, pipeline graph

export const viewAsList = 'View as list'
export const jobCount = (count: number) => `${count} ${plural(count, 'job')}`
export const stagesAndJobs = 'Stages and jobs'
export const allowedToFailSuffix = ', allowed to fail'
export const noDependencies = 'no dependencies'
export const needsJobs = (needs: string) => `needs ${needs}`

// Pipelines, test report

export const addArtifactsReportsJunitToJob = 'Add <code>artifacts: reports: junit</code> to a job.'
export const testCount = (totalCount: number) => `${totalCount} ${plural(totalCount, 'test')}`
export const failedCount = (failedCount: number) => `${failedCount} failed`
export const errorCount = (errorCount: number) => `${errorCount} ${plural(errorCount, 'error')}`
export const skippedCount = (skippedCount: number) => `${skippedCount} skipped`
export const testsFailed = (totalCount: number, failedCount: number) =>
  `${totalCount} ${plural(totalCount, 'test')}, ${failedCount} failed`
export const moreTestsNotShown = (totalCount: number) => `${totalCount} more ${plural(totalCount, 'test')} not shown.`
export const noTestReports = 'No test reports'
export const error = 'Error'

// Pipelines, pipeline

export const withWarnings = 'with warnings'
export const retryFailedJobs = 'Retry failed jobs'
export const cancelPipeline = 'Cancel pipeline'
export const manualJobs = 'Manual jobs'
export const upstream = 'Upstream'
export const downstream = 'Downstream'
export const failedJobsRestarted = 'Failed jobs restarted.'
export const pipelineCancelled = 'Pipeline cancelled.'
export const deleteThisPipelineAndAll = 'Delete this pipeline and all jobs and logs?'
export const pipeline = 'Pipeline'
export const stages = 'Stages'
export const tests = 'Tests'
export const jobsAreVisibleOnly = 'Jobs are visible only to project members'

// Pipelines

export const showAll = 'Show all'
export const addGitlabCiYmlFile = 'Add a <code>.gitlab-ci.yml</code> file to run pipelines on push.'
export const openPipelineEditor = 'Open the pipeline editor'
export const anyStatus = 'Any status'
export const anySource = 'Any source'
export const noMatchingPipelines = 'No matching pipelines'
export const noPipelinesYet = 'No pipelines yet'

// Pipelines, new

export const thePipelineUsesCiConfiguration = 'The pipeline uses the CI configuration of this branch or tag.'

// Settings, triggers

export const aTriggerTokenLetsAnother = 'A trigger token lets another program start pipelines.'
export const newTriggerToken = 'New trigger token'
export const createTriggerToken = 'Create trigger token'
export const example = 'Example:'
export const lastUsedTime = 'last used {time}'
export const byName = (name: string) => `by ${name}`
export const deleteTriggerToken = (description: string) =>
  `Delete ${description}? Programs that use this token lose access immediately.`

// Settings, ci cd

export const registrationToken = 'Registration token'
export const forRunnersThatRegister = 'For runners that register with a registration token.'
export const resetToken = 'Reset token'
export const onThisPage = 'On this page'
export const resetRegistrationTokenCurrentToken =
  'Reset the registration token? The current token stops working immediately.'
export const publicPipelines = 'Public pipelines'
export const autoCancelRedundantPipelines = 'Auto-cancel redundant pipelines'
export const keepArtifactsFromMostRecent = 'Keep artifacts from the most recent successful jobs'
export const enableInstanceRunnersForThisProject = 'Enable instance runners for this project'
export const ciCdConfigurationFile = 'CI/CD configuration file'
export const pathInRepositoryOrPath = 'Path in the repository, or “path@group/project”.'
export const gitStrategy = 'Git strategy'
export const gitShallowCloneDepth = 'Git shallow clone depth'
export const zeroFetchesFullHistory = '0 fetches the full history.'
export const timeoutInMinutes = 'Timeout in minutes'
