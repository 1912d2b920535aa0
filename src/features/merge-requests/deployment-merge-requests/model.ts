declare module '../../../store/database.ts' {
  interface Tables {
    deployment_merge_requests: {
      merge_request_id: number
      deployment_id: number
      environment_id: number
      /** The time the deployment finished. */
      deployed_at: string
    }
  }
}
