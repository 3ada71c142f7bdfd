# The forker of a warden: forks and executes what it is asked to, in sessions of their own, and tells what became of it.
# Small, so that a fork costs little; it decides nothing. It ends with the warden: when there is nobody to hear it.
#
# In: requests, each with its length (4 bytes) before it, its parts separated by NUL; an empty one asks whether it is there.
# Out: a JSON text a line, as `fork-by-perl.ts` reads it.

use strict;
use warnings;
no warnings 'exec';    # A child would say it on the output of its task.
use POSIX qw(EINTR WNOHANG _exit setsid);
use Socket qw(AF_UNIX SOCK_STREAM pack_sockaddr_un);

# A signal that comes just before the wait for it is not noticed by the wait: so long it stays unnoticed at most.
use constant LOOK_AGAIN_S => 0.2;
# More at once would only wait for a processor, each with a pipe.
use constant MAX_BEGINNING => 32;

my ($folder) = @ARGV;
my $instance = pack_sockaddr_un("$folder/output");
my %beginning;         # pid => [id, a pipe that ends when it has become its program, start time]
my %running;           # pid => 1
my ($heard, $unsaid) = ('', qq({"kind":"ready"}\n));
my @asked;             # requests that are not begun yet
my ($warden, $forker) = (getppid(), $$);

# Functions, not 'IGNORE', which programs would inherit. Who ends everything at once must not end the watch before the watched.
$SIG{$_} = sub { } for qw(TERM INT HUP CHLD);

while (1) {
    say_all();
    vec(my $ready = '', fileno(STDIN), 1) = 1;
    vec($ready, fileno($_->[1]), 1) = 1 for values %beginning;
    my $found = select($ready, undef, undef, %running || %beginning ? LOOK_AGAIN_S : undef);
    $ready = '' if $found <= 0;
    vec($ready, fileno($beginning{$_}[1]), 1) and tell_start($_) for keys %beginning;
    collect_ended();
    hear() if vec($ready, fileno(STDIN), 1);
    # Nobody would watch over what begins after the warden has gone, though it was asked for before.
    while (@asked && keys %beginning < MAX_BEGINNING) {
        exit if getppid() != $warden;
        begin(split /\0/, shift @asked, -1);
    }
}

sub hear {
    my $count = sysread(STDIN, $heard, 65536, length $heard);
    return if !defined $count && $! == EINTR;
    exit if !$count;
    while (length $heard >= 4 && length $heard >= 4 + (my $length = unpack('N', $heard))) {
        my $request = substr($heard, 4, $length);
        substr($heard, 0, 4 + $length, '');
        if   ($length == 0) { $unsaid .= qq({"kind":"ready"}\n) }
        else                { push @asked, $request }
    }
}

sub begin {
    my ($id, @spec) = @_;
    pipe(my $fate, my $fail) or return tell_failure($id, 'pipe', $! + 0);
    my $pid = fork;
    return tell_failure($id, 'fork', $! + 0) if !defined $pid;
    become($fail, $id, @spec) if $pid == 0;
    # Its start time is asked for now: once it is collected nobody can be.
    $beginning{$pid} = [$id, $fate, start_time($pid)];
    $unsaid .= qq({"kind":"forked","id":"$id","pid":$pid}\n);
}

# In the child. Comes back never; what it opens beside the three standard streams is closed when the program begins.
sub become {
    my ($fail, $id, $cwd, $stdin, $count, @rest) = @_;
    my @argv = splice(@rest, 0, $count);
    my $at = 'setsid';
    if (   setsid()
        && ($at = 'open')    && open(STDIN, '<', $stdin)
        && ($at = 'connect') && connect_output(\*STDOUT, "$id stdout\n")
        && connect_output(\*STDERR, "$id stderr\n")
        && ($at = 'chdir')   && chdir($cwd))
    {
        %ENV = map { split /=/, $_, 2 } @rest;
        $at = 'spawn';
        # It may have hung until nobody watches over it any more.
        exec { $argv[0] } @argv if getppid() == $forker;
    }
    syswrite($fail, "$at " . ($! + 0));
    _exit(1);
}

# A direct way from the child to the instance: what it prints passes through nobody else.
sub connect_output {
    my ($stream, $head) = @_;
    my $socket;
    return socket($socket, AF_UNIX, SOCK_STREAM, 0)
        && connect($socket, $instance)
        && syswrite($socket, $head)
        && open($stream, '>&', $socket);
}

sub tell_start {
    my ($pid) = @_;
    my ($id, $fate, $start_time) = @{ delete $beginning{$pid} };
    if (sysread($fate, my $why, 64)) { tell_failure($id, split / /, $why) }
    else {
        $running{$pid} = 1;
        $unsaid .= sprintf qq({"kind":"started","id":"%s","pid":%d,"startTime":"%s"}\n), $id, $pid, $start_time;
    }
}

sub tell_failure {
    my ($id, $at, $errno) = @_;
    $unsaid .= sprintf qq({"kind":"failed","id":"%s","at":"%s","errno":%d}\n), $id, $at, $errno;
}

# Empty where the system does not tell.
sub start_time {
    my ($pid) = @_;
    open(my $file, '<', "/proc/$pid/stat") or return '';
    sysread($file, my $stat, 1024) or return '';
    return (split / /, substr($stat, rindex($stat, ')') + 2))[19];
}

sub collect_ended {
    while ((my $pid = waitpid(-1, WNOHANG)) > 0) {
        my $status = $?;
        tell_start($pid) if $beginning{$pid};
        next if !delete $running{$pid};
        $unsaid .= sprintf qq({"kind":"exited","pid":%d,"exitCode":%d,"signal":%d}\n), $pid, $status >> 8, $status & 127;
    }
}

sub say_all {
    while ($unsaid ne '') {
        my $count = syswrite(STDOUT, $unsaid);
        if    (defined $count) { substr($unsaid, 0, $count, '') }
        elsif ($! != EINTR)    { exit }
    }
}
