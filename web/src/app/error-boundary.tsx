/** Catches faults of the page itself: says so, and offers to go on or to load it anew. */
import { Component, type ReactNode } from "react";
import { Button, EmptyState } from "../ui";

interface State {
  error: Error | null;
}

export class ErrorBoundary extends Component<{ children: ReactNode }, State> {
  override state: State = { error: null };

  static getDerivedStateFromError(error: Error): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    const actions = (
      <>
        <Button onClick={() => this.setState({ error: null })}>Try again</Button>
        <Button tone="primary" onClick={() => location.reload()}>
          Reload the page
        </Button>
      </>
    );
    return (
      <EmptyState title="This part of the page has failed" actions={actions}>
        <p>Your panes are not affected.</p>
        <pre>{error.message}</pre>
      </EmptyState>
    );
  }
}
