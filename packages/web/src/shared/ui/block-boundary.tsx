/** A block that cannot be shown says so in its own place; the others stay. A class: there is no hook for this. */

import { Component, type ReactNode, Suspense } from "react";
import { ProblemNote } from "./answer.tsx";

interface BlockBoundaryProps {
  readonly children: ReactNode;
}

interface BlockBoundaryState {
  readonly error: Error | null;
}

export class BlockBoundary extends Component<BlockBoundaryProps, BlockBoundaryState> {
  override state: BlockBoundaryState = { error: null };

  static getDerivedStateFromError(error: unknown): BlockBoundaryState {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error !== null) return <ProblemNote error={error} onRetry={() => this.setState({ error: null })} />;
    return <Suspense>{this.props.children}</Suspense>;
  }
}
